import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './port.js';

/** A proxied connection. */
interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  /** Whether everything sent is dropped, including FIN and RST. */
  isDropped: boolean;
}

/** A TCP proxy that injects network faults. */
export class FaultyProxy {
  #server: URL;
  readonly #defaultPort: number;
  readonly #port: number;
  readonly #connections = new Set<Connection>();
  #listener: Server;
  #delayMs = 0;
  #state: 'open' | 'stalled' | 'dropping' | 'dropping-responses' = 'open';

  private constructor(url: string, defaultPort: number, port: number) {
    this.#server = new URL(url);
    this.#defaultPort = defaultPort;
    this.#port = port;
    this.#listener = this.#listen();
  }

  /** Starts a proxy to the server of a URL. Always {@link close} it. */
  static async to(url: string, defaultPort = 0): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(url, defaultPort, await freePort());
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  /** Returns the URL that reaches a database of the server through this proxy. */
  toProxiedUrl(url: string): string {
    return Object.assign(new URL(url), { host: `127.0.0.1:${this.#port}` }).href;
  }

  /** Forwards to the server of another URL and resets every connection, as a failover of an IP address does. */
  redirectTo(url: string): void {
    this.#server = new URL(url);
    this.reset();
  }

  /** Resets every connection. Still accepts new ones. */
  reset(): void {
    for (const { client, server } of this.#connections) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Resets every connection and refuses new ones. */
  async refuseConnections(): Promise<void> {
    const closed = this.#listener.listening && once(this.#listener, 'close');
    this.#listener.close();
    this.reset();
    await closed;
  }

  /** Delays everything until {@link restore}, as packet loss with retransmission does. */
  stall(): void {
    this.#state = 'stalled';
    for (const { client, server } of this.#connections) for (const end of [client, server]) end.pause();
  }

  /** Silently drops everything on current connections and on those opened before {@link restore}. */
  dropPackets(): void {
    this.#state = 'dropping';
    for (const connection of this.#connections) connection.isDropped = true;
  }

  /** Forwards requests; on each connection, drops the server's next response and then everything in both directions. */
  dropResponses(): void {
    this.#state = 'dropping-responses';
  }

  /** Ends the server's side of every connection. Data from the client still arrives. */
  halfClose(): void {
    for (const { client } of this.#connections) client.end();
  }

  /** Delays everything by `delayMs` in each direction. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Forwards everything again. Dropped connections stay dropped. */
  async restore(): Promise<void> {
    this.#state = 'open';
    this.#delayMs = 0;
    for (const { client, server } of this.#connections) for (const end of [client, server]) end.resume();
    if (this.#listener.listening) return;
    this.#listener = this.#listen();
    await once(this.#listener, 'listening');
  }

  close(): Promise<void> {
    return this.refuseConnections();
  }

  #listen(): Server {
    return createServer({ allowHalfOpen: true }, (client) => this.#forward(client)).listen(this.#port, '127.0.0.1');
  }

  #forward(client: Socket): void {
    const server = connect({
      port: Number(this.#server.port || this.#defaultPort),
      host: this.#server.hostname,
      allowHalfOpen: true,
    });
    const connection: Connection = { client, server, isDropped: this.#state === 'dropping' };
    this.#connections.add(connection);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => {});
      from.on('data', (chunk) => {
        if (from === server && this.#state === 'dropping-responses') connection.isDropped = true;
        if (!connection.isDropped) this.#delayed(() => to.writable && to.write(chunk));
      });
      from.on('end', () => {
        if (!connection.isDropped) this.#delayed(() => to.end());
      });
      from.on('close', () => {
        if (!connection.isDropped) this.#delayed(() => to.destroy());
        if (client.destroyed && server.destroyed) this.#connections.delete(connection);
      });
      if (this.#state === 'stalled') from.pause();
    }
  }

  #delayed(action: () => void): void {
    if (this.#delayMs === 0) action();
    else setTimeout(action, this.#delayMs);
  }
}
