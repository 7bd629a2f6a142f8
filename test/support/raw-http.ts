import type { Socket } from 'node:net';
import { Connection, type HttpResponse } from '../contract/http/connection.js';
import { isJson, parseObject } from '../contract/http/service.js';
import { checkResponse } from './secret-leaks.js';

/** An HTTP response as received. */
export interface RawResponse extends HttpResponse {
  /** The number of the Error object, or the status if there is none. */
  readonly outcome: number;
  /** Parses the body as JSON. */
  json(): unknown;
}

/** Every recorded response, with the first line that its client sent. */
export const observedResponses: { readonly firstLine: string; readonly response: RawResponse }[] = [];

/** An HTTP client that sends exact bytes and reads responses one by one. */
export class RawClient {
  readonly socket: Socket;
  readonly #connection: Connection;
  readonly #isRecorded: boolean;
  #firstLine: string | undefined;

  private constructor(connection: Connection, isRecorded: boolean) {
    this.#connection = connection;
    this.socket = connection.socket;
    this.#isRecorded = isRecorded;
  }

  /** @param options `isRecorded: false` keeps the responses out of {@link observedResponses} */
  static async connect(port: number, { isRecorded = true } = {}): Promise<RawClient> {
    const url = new URL(`http://127.0.0.1:${port}`);
    return new RawClient(await Connection.open(url, new AbortController().signal), isRecorded);
  }

  send(bytes: string | Uint8Array): this {
    this.#firstLine ??= Buffer.from(bytes).toString('latin1').split('\r\n', 1)[0];
    this.#connection.send(bytes);
    return this;
  }

  /**
   * Reads the next response, including `100 Continue`; returns `undefined` if the connection ends first.
   *
   * @param method `HEAD` for a response without a body, whatever its headers say
   */
  async readResponse(method?: 'HEAD'): Promise<RawResponse | undefined> {
    const received = await this.#connection.read(method);
    if (received === undefined) return undefined;
    checkResponse(received);
    const response = toRawResponse(received);
    if (this.#isRecorded) observedResponses.push({ firstLine: this.#firstLine ?? '', response });
    return response;
  }

  /** Reads responses until the connection ends. */
  async readAllResponses(): Promise<RawResponse[]> {
    const responses: RawResponse[] = [];
    for (let response = await this.readResponse(); response; response = await this.readResponse())
      responses.push(response);
    return responses;
  }

  /** Waits until the connection has ended or was reset. */
  async ended(): Promise<void> {
    const { socket } = this;
    if (socket.readableEnded || socket.closed) return;
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'close']) socket.once(event, () => resolve());
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Adds the outcome to a response. */
export function toRawResponse(response: HttpResponse): RawResponse {
  return {
    ...response,
    outcome: isJson(response) ? (Object(parseObject(response.body)).error ?? response.status) : response.status,
    json: () => JSON.parse(response.body),
  };
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
  const isFramed = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const framing = isFramed || bytes.length === 0 ? {} : { 'Content-Length': `${bytes.length}` };
  const lines = Object.entries({ Host: 'test', ...headers, ...framing }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`${startLine} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}
