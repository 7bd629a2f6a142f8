import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { lookThroughAnswer } from './emitted.js';

/** One answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON. */
  json(): unknown;
}

/** Every answer that a {@link RawClient} has read, beside the first line that this client sent. */
export const answersSeen: { readonly firstLine: string; readonly answer: RawAnswer }[] = [];

/** A client that sends exactly the bytes it is told to, and reads answers one by one. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #firstLine: string | undefined;
  readonly #isRecorded: boolean;

  private constructor(socket: Socket, isRecorded: boolean) {
    this.socket = socket;
    this.#isRecorded = isRecorded;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      socket.emit('news');
    });
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.#ended = true;
        socket.emit('news');
      });
    }
    socket.on('error', () => {});
  }

  /** @param options `isRecorded: false` keeps its answers out of {@link answersSeen} */
  static async connect(port: number, { isRecorded = true } = {}): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket, isRecorded);
  }

  send(bytes: string | Uint8Array): this {
    this.#firstLine ??= Buffer.from(bytes).toString('latin1').split('\r\n', 1)[0];
    this.socket.write(bytes);
    return this;
  }

  /**
   * The next answer, `100 Continue` included; `undefined` where the connection ended before one.
   *
   * @param method of the request that it belongs to: the answer to HEAD has no body, whatever its headers say
   */
  async answer(method?: 'HEAD'): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.#take(method);
      if (answer && this.#isRecorded) answersSeen.push({ firstLine: this.#firstLine ?? '', answer });
      if (answer || this.#ended) return answer;
      await this.#news();
    }
  }

  /** Every answer up to the end of the connection. */
  async answersToEnd(): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = [];
    for (let answer = await this.answer(); answer; answer = await this.answer()) answers.push(answer);
    await this.ended();
    return answers;
  }

  /** Resolves when the other side has closed the connection, in good order or not. */
  async ended(): Promise<void> {
    while (!this.#ended) await this.#news();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Something came, or the connection ended; unlike `once(…)` it does not reject where that was by a reset. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('news', resolve);
    });
  }

  #take(method?: 'HEAD'): RawAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const [statusLine = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const bodyEnd = end + 4 + (method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0));
    if (this.#received.length < bodyEnd) return undefined;
    const body = this.#received.subarray(end + 4, bodyEnd).toString('utf8');
    lookThroughAnswer(status, this.#received.subarray(0, end).toString('latin1'), body);
    this.#received = this.#received.subarray(bodyEnd);
    return { status, headers, body, json: () => JSON.parse(body) };
  }
}

/** Sends bytes over a connection of its own and returns the first answer. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  const client = await RawClient.connect(port);
  const answer = await client.send(bytes).answer();
  client.close();
  return answer;
}

/** The text of a request; a body gets its Content-Length unless the headers say how it is framed. */
export function request(
  startLine: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = '',
): Buffer {
  const bytes = Buffer.from(body);
  const framed = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const lines = Object.entries({
    Host: 'test',
    ...headers,
    ...(framed || bytes.length === 0 ? {} : { 'Content-Length': `${bytes.length}` }),
  }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from(`${[`${startLine} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}
