import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The two ends of one connection through a line. */
interface Ends {
  readonly client: Socket;
  readonly server: Socket;
  /** Cut off without a word: neither side hears of the other again, not even that it is gone. */
  isLost: boolean;
}

/** A line to a server, in which all that can happen to a line happens when it is told to. */
export class Line {
  readonly #server: { readonly url: URL; readonly port: number };
  readonly #connections = new Set<Ends>();
  #listener: Server;
  #port = 0;
  #delayMs = 0;
  #state: 'open' | 'stalled' | 'lost' | 'deaf' = 'open';

  private constructor(url: string, defaultPort: number) {
    const server = new URL(url);
    this.#server = { url: server, port: Number(server.port || defaultPort) };
    this.#listener = this.#listen(0);
  }

  /** A line to the server of a URL. {@link end} it in any case. */
  static async to(url: string, defaultPort: number): Promise<Line> {
    const line = new Line(url, defaultPort);
    await once(line.#listener, 'listening');
    const address = line.#listener.address();
    if (typeof address === 'object' && address !== null) line.#port = address.port;
    return line;
  }

  /** The URL of a database of the server that leads through this line. */
  urlOf(url: string): string {
    return Object.assign(new URL(url), { host: `127.0.0.1:${this.#port}` }).href;
  }

  /** Resets every connection; new ones are let through. */
  reset(): void {
    for (const { client, server } of this.#connections) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Closes every connection, and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = this.#listener.listening && once(this.#listener, 'close');
    this.#listener.close();
    this.reset();
    await closed;
  }

  /** Holds back what is sent, as where packets are lost and sent again, until {@link mend}. */
  stall(): void {
    this.#state = 'stalled';
    for (const { client, server } of this.#connections) for (const end of [client, server]) end.pause();
  }

  /** Loses every connection, and those that are made until {@link mend}, without telling either side. */
  lose(): void {
    this.#state = 'lost';
    for (const connection of this.#connections) connection.isLost = true;
  }

  /** Lets everything reach the server, and loses every answer from now on, with the connection that it came on. */
  loseAnswers(): void {
    this.#state = 'deaf';
  }

  /** Has the server say nothing more on any connection; what the client sends still arrives. */
  halfClose(): void {
    for (const { client } of this.#connections) client.end();
  }

  /** Has everything take so long from one side to the other, in milliseconds. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Lets everything through again. What was lost stays lost. */
  async mend(): Promise<void> {
    this.#state = 'open';
    this.#delayMs = 0;
    for (const { client, server } of this.#connections) for (const end of [client, server]) end.resume();
    if (this.#listener.listening) return;
    this.#listener = this.#listen(this.#port);
    await once(this.#listener, 'listening');
  }

  end(): Promise<void> {
    return this.refuse();
  }

  #listen(port: number): Server {
    return createServer({ allowHalfOpen: true }, (client) => this.#join(client)).listen(port, '127.0.0.1');
  }

  #join(client: Socket): void {
    const server = connect({ port: this.#server.port, host: this.#server.url.hostname, allowHalfOpen: true });
    const connection: Ends = { client, server, isLost: this.#state === 'lost' };
    this.#connections.add(connection);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => {});
      from.on('data', (chunk) => {
        if (from === server && this.#state === 'deaf') connection.isLost = true;
        if (!connection.isLost) this.#later(() => to.writable && to.write(chunk));
      });
      from.on('end', () => {
        if (!connection.isLost) this.#later(() => to.end());
      });
      from.on('close', () => {
        if (!connection.isLost) this.#later(() => to.destroy());
        if (client.destroyed && server.destroyed) this.#connections.delete(connection);
      });
      if (this.#state === 'stalled') from.pause();
    }
  }

  #later(act: () => void): void {
    if (this.#delayMs === 0) act();
    else setTimeout(act, this.#delayMs);
  }
}
