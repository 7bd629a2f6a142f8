import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { checkResponse } from './secret-leaks.js';

/** An HTTP response as received. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Parses the body as JSON. */
  json(): unknown;
}

/** Every recorded response, with the first line that its client sent. */
export const observedResponses: { readonly firstLine: string; readonly response: RawResponse }[] = [];

/** An HTTP client that sends exact bytes and reads responses one by one. */
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
      socket.emit('change');
    });
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.#ended = true;
        socket.emit('change');
      });
    }
    socket.on('error', () => {});
  }

  /** @param options `isRecorded: false` keeps the responses out of {@link observedResponses} */
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
   * Reads the next response, including `100 Continue`; returns `undefined` if the connection ends first.
   *
   * @param method `HEAD` for a response without a body, whatever its headers say
   */
  async readResponse(method?: 'HEAD'): Promise<RawResponse | undefined> {
    for (;;) {
      const response = this.#take(method);
      if (response && this.#isRecorded) observedResponses.push({ firstLine: this.#firstLine ?? '', response });
      if (response || this.#ended) return response;
      await this.#waitForChange();
    }
  }

  /** Reads responses until the connection ends. */
  async readAllResponses(): Promise<RawResponse[]> {
    const responses: RawResponse[] = [];
    for (let response = await this.readResponse(); response; response = await this.readResponse())
      responses.push(response);
    await this.ended();
    return responses;
  }

  /** Waits until the other side has closed or reset the connection. */
  async ended(): Promise<void> {
    while (!this.#ended) await this.#waitForChange();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Waits for data or the end of the connection. Unlike `once(…)`, does not reject on a reset. */
  #waitForChange(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('change', resolve);
    });
  }

  #take(method?: 'HEAD'): RawResponse | undefined {
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
    checkResponse(status, this.#received.subarray(0, end).toString('latin1'), body);
    this.#received = this.#received.subarray(bodyEnd);
    return { status, headers, body, json: () => JSON.parse(body) };
  }
}

/** Sends bytes over a new connection and returns the first response. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<RawResponse | undefined> {
  const client = await RawClient.connect(port);
  const response = await client.send(bytes).readResponse();
  client.close();
  return response;
}

/** Builds a request. Adds Content-Length for a body unless `headers` define the framing. */
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
