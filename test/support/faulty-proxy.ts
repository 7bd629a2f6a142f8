import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { freePort } from './port.js';

/**
 * What happens until the proxy is restored:
 * - `late packets`: each takes {@link LATENCY_MS} more
 * - `stopped packets`: each waits, as with retransmission after a loss
 * - `lost packets`: on all connections of that time, also FIN and RST, and also later
 * - `lost responses`: on each connection, the server's next response and everything after it
 */
export type Impairment = 'late packets' | 'stopped packets' | 'lost packets' | 'lost responses';

const LATENCY_MS = 30;

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  isLost: boolean;
}

/** A TCP proxy that injects network faults. */
export class FaultyProxy {
  /** URL of the server to which new connections are forwarded. */
  target: string;
  readonly #defaultPort: number;
  readonly #port: number;
  readonly #connections = new Set<Connection>();
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #listener = createServer({ allowHalfOpen: true }, (client) => this.#forward(client));
  #impairment: Impairment | undefined;

  private constructor(url: string, defaultPort: number, port: number) {
    this.target = url;
    this.#defaultPort = defaultPort;
    this.#port = port;
  }

  /** Starts a proxy to the server of a URL. Always {@link refuseConnections} at the end. */
  static async to(url: string, defaultPort = 0): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(url, defaultPort, await freePort());
    await proxy.restore();
    return proxy;
  }

  /** Returns the URL that reaches a database of the server through this proxy. */
  toProxiedUrl(url: string): string {
    return Object.assign(new URL(url), { host: `127.0.0.1:${this.#port}` }).href;
  }

  impair(impairment: Impairment): void {
    this.#impairment = impairment;
    if (impairment === 'lost packets') for (const connection of this.#connections) connection.isLost = true;
  }

  /** Resets every connection. Still accepts new ones. */
  reset(): void {
    for (const { client, server } of this.#connections) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Ends the server's side of every connection. Data from the client still arrives. */
  halfClose(): void {
    for (const { client } of this.#connections) client.end();
  }

  /** Resets every connection and refuses new ones. */
  async refuseConnections(): Promise<void> {
    const closed = this.#listener.listening && once(this.#listener, 'close');
    this.#listener.close();
    this.reset();
    await closed;
  }

  /** Accepts connections and forwards packets again. */
  async restore(): Promise<void> {
    this.#impairment = undefined;
    this.#events.emit('restored');
    if (this.#listener.listening) return;
    await once(this.#listener.listen(this.#port, '127.0.0.1'), 'listening');
  }

  #forward(client: Socket): void {
    const { hostname: host, port } = new URL(this.target);
    const server = connect({ host, port: Number(port || this.#defaultPort), allowHalfOpen: true });
    const connection: Connection = { client, server, isLost: this.#impairment === 'lost packets' };
    this.#connections.add(connection);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      let previous: Promise<unknown> = Promise.resolve();
      const pass = (action: () => unknown) => {
        const arrival = this.#impairment === 'late packets' ? setTimeout(LATENCY_MS) : undefined;
        previous = Promise.all([previous, arrival]).then(async () => {
          if (this.#impairment === 'stopped packets') await once(this.#events, 'restored');
          if (this.#impairment === 'lost responses' && from === server) connection.isLost = true;
          if (!connection.isLost) action();
        });
      };
      from.on('error', () => {});
      from.on('data', (chunk) => pass(() => to.writable && to.write(chunk)));
      from.on('end', () => pass(() => to.end()));
      from.on('close', () => {
        pass(() => to.destroy());
        if (client.destroyed && server.destroyed) this.#connections.delete(connection);
      });
    }
  }
}
