import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { ContractViolation } from '../contract.js';
import { Connection, type HttpResponse, openSocket, type ResponseObserver } from './connection.js';

/** The service under test. */
export interface HttpContractTarget {
  /** `http` or `https` URL before `/plants`, with the path prefix if there is one, such as `http://127.0.0.1:3000/garden`. */
  readonly baseUrl: string;
  /** A valid bearer token. No message of a case contains it. */
  readonly token: string;
}

/** Header fields by name; `undefined` removes a default one. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** Builds a request. Adds the framing of a body. */
export function formatRequest(startLine: string, headers: Headers, body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  const isFramed = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const framing = isFramed || bytes.length === 0 ? {} : { 'Content-Length': `${bytes.length}` };
  const lines = Object.entries({ ...headers, ...framing })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${startLine} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

/** The service under test, as one case sees it. */
export class Service {
  readonly token: string;
  readonly baseUrl: URL;
  /** Path before `/plants`, without a slash at the end. */
  readonly prefix: string;
  readonly #observe: ResponseObserver | undefined;
  readonly #end = new AbortController();

  /** A test of this repository observes the responses. */
  constructor({ baseUrl, token, observe }: HttpContractTarget & { readonly observe?: ResponseObserver }) {
    this.token = token;
    this.#observe = observe;
    this.baseUrl = new URL(baseUrl);
    this.prefix = this.baseUrl.pathname.replace(/\/$/, '');
    setMaxListeners(0, this.#end.signal);
  }

  /** Closes every connection. */
  close(): void {
    this.#end.abort();
  }

  /** Sends bytes over a new connection. */
  async connect(bytes: string | Uint8Array): Promise<Connection> {
    return new Connection(await openSocket(this.baseUrl, this.#end.signal), this.#observe).send(bytes);
  }

  /** Builds a request. A target that starts with a slash is relative to the base URL. */
  request(startLine: string, headers: Headers = {}, body: string | Uint8Array = ''): Buffer {
    const firstLine = startLine.replace(' /', ` ${this.prefix}/`);
    return formatRequest(firstLine, { Host: this.baseUrl.host, ...headers }, body);
  }

  /** Builds a request with the credential and the media type of a create. */
  authorized(startLine: string, headers: Headers = {}, body?: string | Uint8Array): Buffer {
    const defaults = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    return this.request(startLine, { ...defaults, ...headers }, body);
  }

  /** Builds a create. */
  post(body: string | Uint8Array = newPlant(), headers?: Headers): Buffer {
    return this.authorized('POST /plants', headers, body);
  }

  /** Returns the first final response to bytes. */
  async send(bytes: string | Uint8Array): Promise<HttpResponse> {
    const connection = await this.connect(bytes);
    let response = await connection.read();
    while (response && response.status < 200) response = await connection.read();
    connection.socket.destroy();
    return received(response);
  }

  create(body?: string | Uint8Array, headers?: Headers): Promise<HttpResponse> {
    return this.send(this.post(body, headers));
  }

  /** Asserts the outcome of the first final response to bytes. */
  async expect(outcome: number, bytes: string | Uint8Array): Promise<HttpResponse> {
    return expectOutcome(await this.send(bytes), outcome);
  }

  /** Sends a create, and asserts its outcome. */
  expectCreate(outcome: number, body?: string | Uint8Array, headers?: Headers): Promise<HttpResponse> {
    return this.expect(outcome, this.post(body, headers));
  }

  /** Asserts the outcomes of all responses to bytes until the service closes the connection. */
  async expectToEnd(outcomes: readonly number[], bytes: string | Uint8Array): Promise<void> {
    const connection = await this.connect(bytes);
    for (const outcome of outcomes) expectOutcome(await connection.read(), outcome);
    const more = await connection.read();
    expectThat(more === undefined, 'a closed connection', more);
  }
}

/** Returns a random int64. */
export function randomId(): bigint {
  return randomBytes(8).readBigInt64BE();
}

/** Returns a random positive id that every JSON library represents exactly, as the specification defines no range. */
export function simpleId(): bigint {
  return BigInt(Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1)) + 1);
}

/** Returns the JSON text of a NewPlant, by default with a random id. */
export function newPlant(fields: object = {}, id: bigint | string = randomId()): string {
  return `{"id":${id},${JSON.stringify({ name: 'Monstera', ...fields }).slice(1)}`;
}

/** Frames a body as one chunk. */
export function chunked(body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]);
}

/** Asserts the outcome of a response: 200, or the number of an Error object. */
export function expectOutcome(response: HttpResponse | undefined, expected: number): HttpResponse {
  const present = received(response);
  const wanted = expected === 200 ? '200' : `${Math.trunc(expected / 100)} with error ${expected}`;
  expectThat(toOutcome(present) === expected, `${wanted}, as application/json`, present);
  return present;
}

/** Returns 200 or the error number; `undefined` if the response does not have the form that the interface requires. */
function toOutcome(response: HttpResponse): number | undefined {
  const body = isJson(response) ? parseObject(response.body) : undefined;
  if (body === undefined || response.status === 200) return body && 200;
  const { error, message, ...more } = body;
  const isError = typeof message === 'string' && message !== '' && Object.keys(more).length === 0;
  return isError && Math.trunc(Number(error) / 100) === response.status ? Number(error) : undefined;
}

/** Returns whether the media type is application/json, with any parameters. */
export function isJson({ headers }: HttpResponse): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
}

/** Parses a JSON object; returns `undefined` for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Asserts a condition about a response. */
export function expectThat(condition: boolean, expected: string, response: HttpResponse | undefined): void {
  if (condition) return;
  const { status, headers, body } = received(response);
  const actual = `${status} as ${headers['content-type'] ?? 'no media type'} ${body.slice(0, 300)}`.trimEnd();
  throw new ContractViolation(`expected ${expected}; received ${actual}`);
}

/** Asserts the value of a header. */
export function expectHeader(response: HttpResponse | undefined, name: string, expected: string): void {
  const actual = received(response).headers[name.toLowerCase()] ?? 'none';
  if (actual === expected) return;
  throw new ContractViolation(`expected the header ${name}: ${expected}; received ${actual}`);
}

function received(response: HttpResponse | undefined): HttpResponse {
  if (response === undefined) throw new ContractViolation('the connection closed without a response');
  return response;
}
