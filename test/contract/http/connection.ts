import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** An HTTP response. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name; values of repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Is called with each response and the first line that its client sent. */
export type ResponseObserver = (response: HttpResponse, firstLine: string) => void;

/** Connects to the host of a URL. Rejects with the operating system's error or when the signal aborts. */
export async function openSocket({ protocol, hostname, port }: URL, signal?: AbortSignal): Promise<Socket> {
  const isTls = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const options = { host, port: Number(port || (isTls ? 443 : 80)), ...(isIP(host) ? {} : { servername: host }) };
  const socket = isTls ? connectTls(options) : connectTcp(options);
  signal?.addEventListener('abort', () => socket.destroy());
  await once(socket, isTls ? 'secureConnect' : 'connect', signal ? { signal } : {});
  return socket.setNoDelay(true);
}

/** A connection that sends exact bytes and reads responses one by one. */
export class Connection {
  readonly socket: Socket;
  readonly #observe: ResponseObserver;
  #received = Buffer.alloc(0);
  #ended = false;
  #firstLine = '';
  #onChange = () => {};

  constructor(socket: Socket, observe: ResponseObserver = () => {}) {
    this.socket = socket;
    this.#observe = observe;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#onChange();
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#onChange();
      });
    }
  }

  send(bytes: string | Uint8Array): this {
    this.#firstLine ||= Buffer.from(bytes).toString('latin1').split('\r\n', 1).join();
    if (this.socket.writable) this.socket.write(bytes);
    return this;
  }

  /** Reads the next response, including `100 Continue`; returns `undefined` if the connection ends first. */
  async read(method?: 'HEAD'): Promise<HttpResponse | undefined> {
    for (;;) {
      const parsed = parseResponse(this.#received, this.#ended, method);
      if (parsed) {
        this.#received = this.#received.subarray(parsed.length);
        this.#observe(parsed.response, this.#firstLine);
        return parsed.response;
      }
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}

/** Parses the first response in `bytes`; returns `undefined` if it is incomplete. */
function parseResponse(bytes: Buffer, ended: boolean, method?: 'HEAD') {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    const value = line.slice(line.indexOf(':') + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  const rest = bytes.subarray(headEnd + 4);
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
  const body = hasBody ? parseBody(rest, headers, ended) : { bytes: Buffer.alloc(0), length: 0 };
  if (body === undefined) return undefined;
  const response: HttpResponse = { status, headers, body: body.bytes.toString('utf8') };
  return { response, length: headEnd + 4 + body.length };
}

/** Returns the body and its length on the connection (RFC 9112 §6.3), or `undefined` if it is incomplete. */
function parseBody(rest: Buffer, headers: Readonly<Record<string, string>>, ended: boolean) {
  if (headers['transfer-encoding'] !== undefined) return parseChunks(rest);
  const length = Number(headers['content-length'] ?? (ended ? rest.length : Number.POSITIVE_INFINITY));
  return rest.length < length ? undefined : { bytes: rest.subarray(0, length), length };
}

function parseChunks(rest: Buffer) {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16);
    at = lineEnd + 2 + size + 2;
    if (!(rest.length >= at)) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), length: at };
    chunks.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
  }
}
