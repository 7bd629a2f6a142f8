import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './port.js';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'postgres:': 5432, 'mysql:': 3306 };

/** A TCP proxy that injects network faults. */
export class FaultyProxy {
  /** URL of the server to which new connections are forwarded. */
  target: string;
  readonly #port: number;
  readonly #connections: { readonly client: Socket; readonly server: Socket; isLost: boolean }[] = [];
  readonly #listener = createServer((client) => this.#forward(client));
  #isLossy = false;

  private constructor(url: string, port: number) {
    this.target = url;
    this.#port = port;
  }

  /** Starts a proxy to the server of a URL. Always {@link refuseConnections} at the end. */
  static async to(url: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(url, await freePort());
    await proxy.restore();
    return proxy;
  }

  /** Returns the URL that reaches a database of the server through this proxy. */
  toProxiedUrl(url: string): string {
    return Object.assign(new URL(url), { host: `127.0.0.1:${this.#port}` }).href;
  }

  /** Loses every packet, also FIN and RST, until {@link restore}; on the connections of that time also later. */
  losePackets(): void {
    this.#isLossy = true;
    for (const connection of this.#connections) connection.isLost = true;
  }

  /** Waits until the client has closed every connection. */
  async disconnected(): Promise<void> {
    await Promise.all(this.#connections.map(({ client }) => client.closed || once(client, 'close')));
  }

  /** Resets every connection. Still accepts new ones. */
  reset(): void {
    for (const { client, server } of this.#connections) {
      // A socket that is being closed cannot be reset: Node would wait for it forever when the process exits.
      if (client.writable) client.resetAndDestroy();
      else client.destroy();
      server.destroy();
    }
  }

  /** Resets every connection and refuses new ones. */
  async refuseConnections(): Promise<void> {
    if (!this.#listener.listening) return;
    const closed = once(this.#listener.close(), 'close');
    this.reset();
    await closed;
  }

  /** Accepts connections and forwards packets again. */
  async restore(): Promise<void> {
    this.#isLossy = false;
    if (!this.#listener.listening) await once(this.#listener.listen(this.#port, '127.0.0.1'), 'listening');
  }

  #forward(client: Socket): void {
    const { protocol, hostname: host, port } = new URL(this.target);
    const server = connect({ host, port: Number(port || DEFAULT_PORTS[protocol]) });
    const connection = { client, server, isLost: this.#isLossy };
    this.#connections.push(connection);
    const forward = (from: Socket, to: Socket) => {
      from.on('error', () => {});
      from.on('data', (chunk) => connection.isLost || to.write(chunk));
      from.on('close', () => connection.isLost || to.destroySoon());
    };
    forward(client, server);
    forward(server, client);
  }
}
