import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './port.js';

/** A TCP proxy that injects network faults. */
export class FaultyProxy {
  readonly #target: URL;
  readonly #port: number;
  readonly #connections: { readonly client: Socket; readonly server: Socket; isLost: boolean }[] = [];
  readonly #listener = createServer((client) => this.#forward(client));
  #isLossy = false;

  private constructor(target: URL, port: number) {
    this.#target = target;
    this.#port = port;
  }

  /** Starts a proxy to the server of a URL. Always {@link refuseConnections} at the end. */
  static async to(url: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(url), await freePort());
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
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const connection = { client, server, isLost: this.#isLossy };
    this.#connections.push(connection);
    const pipe = (from: Socket, to: Socket) => {
      from.on('error', () => {});
      from.on('data', (chunk) => connection.isLost || to.write(chunk));
      from.on('close', () => connection.isLost || to.destroySoon());
    };
    pipe(client, server);
    pipe(server, client);
  }
}
