import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { type ApiError, apiErrors, toStatus } from '../api/index.js';
import type { LogOptions } from './log-requests.js';

/** Maximum number of headers of a request, and of requests without a response per connection. */
const [MAX_HEADERS, MAX_PENDING] = [100, 16];

/** Options of {@link HttpServer}, which reports the requests to which it responds itself. */
export interface HttpServerOptions extends LogOptions {
  /** Maximum time for the headers of a request to arrive. @default 10000 */
  readonly headersTimeoutMs?: number | undefined;
  /** Maximum time for a whole request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum time for a connection to be idle, or for a client not to read its response. @default 65000 */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Maximum time for {@link HttpServer.stop} to finish the requests in progress. @default 10000 */
  readonly shutdownTimeoutMs?: number | undefined;
}

interface Connection {
  /** The responses that have not been sent, in order. */
  readonly pending: Set<http.ServerResponse>;
  /** A request to which a response was sent before its body had arrived. */
  unread?: http.IncomingMessage;
  /** Whether the connection ends after the pending responses. */
  isEnding: boolean;
}

/** A Node server for any listener, with limits per connection, Error objects for malformed HTTP, and graceful shutdown. */
export class HttpServer {
  /** Whether {@link stop} was called. */
  isStopping = false;
  readonly #server: http.Server;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #options: HttpServerOptions;
  #stopped: Promise<void> | undefined;

  constructor(listener: http.RequestListener, options: HttpServerOptions = {}) {
    const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000 } = options;
    this.#options = options;
    this.#server = http.createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Node's default would delay a timeout by up to 30 s.
      connectionsCheckingInterval: 500,
      requireHostHeader: false,
      // Maximum unread bytes of a body. A chunk takes some 400 bytes of memory, and can contain a single byte.
      highWaterMark: 512,
    });
    // Node silently drops further headers. One more than allowed shows that there are too many.
    this.#server.maxHeadersCount = MAX_HEADERS + 1;
    this.#server.on('connection', (socket) => {
      this.#connections.set(socket, { pending: new Set(), isEnding: false });
      socket.on('close', () => this.#connections.delete(socket));
    });
    const onRequest: http.RequestListener = (req, res) => this.#accept(req, res, listener);
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, onRequest);
    this.#server.on('clientError', (error, socket) => this.#reject(toApiError(error), socket));
    this.#server.setTimeout(keepAliveTimeoutMs, (socket) => {
      const isIdle = socket.bytesWritten > 0 && this.#connections.get(socket)?.pending.size === 0;
      // Others wait for their response, or for Node to report a late request.
      if (isIdle || socket.writableLength > 0) socket.destroy();
    });
  }

  /** Listens on the first address of a host. Resolves to its URL; rejects with the operating system's error. */
  async listen(port: number, host: string): Promise<string> {
    await once(this.#server.listen(port, host), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('not listening on a TCP port');
    return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
  }

  /** Stops listening, finishes the requests in progress, and disconnects the remaining clients after the timeout. */
  stop(): Promise<void> {
    this.isStopping = true;
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const [socket, { pending }] of this.#connections) {
      const latest = [...pending].at(-1);
      if (latest === undefined) socket.destroy();
      else if (!latest.headersSent) latest.setHeader('Connection', 'close');
    }
    const timer = setTimeout(() => this.#server.closeAllConnections(), this.#options.shutdownTimeoutMs ?? 10_000);
    await closed;
    clearTimeout(timer);
  }

  /** Hands a request to the listener, unless its connection ends, and counts it until its response is sent. */
  #accept(req: http.IncomingMessage, res: http.ServerResponse, listener: http.RequestListener): void {
    const { socket } = req;
    // RFC 9112 §3.2.2. Parsers of URLs throw for some hosts.
    req.url = req.url?.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*|#.*/gi, '') || '/';
    const connection = this.#connections.get(socket);
    if (connection?.pending.size === MAX_PENDING) socket.destroy();
    if (!connection || connection.isEnding || this.isStopping || socket.destroyed) return;
    connection.pending.add(res);
    res.on('close', () => {
      if (!req.complete) connection.unread = req;
      connection.pending.delete(res);
      if ((connection.isEnding || this.isStopping) && connection.pending.size === 0) socket.destroySoon();
    });
    // Node drops what follows in its packet, so later packets may start in the middle of a request.
    connection.isEnding = req.headers.upgrade !== undefined;
    if (connection.isEnding) res.setHeader('Connection', 'close');
    if (req.rawHeaders.length > 2 * MAX_HEADERS) this.#reject(apiErrors.headersTooLarge, socket);
    else listener(req, res);
  }

  /** Ends a connection: with an error, or without a response if others are pending or the client has left. */
  #reject(apiError: ApiError | undefined, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    // Node also reports each packet after malformed HTTP.
    if (!connection || socket.writableEnded) return;
    connection.isEnding = true;
    const latest = [...connection.pending].at(-1);
    // The listener cannot respond, because the rest of the body is malformed or late.
    const cut = latest?.req.complete === false && !latest.headersSent ? latest : undefined;
    if (cut) connection.pending.delete(cut);
    if (connection.pending.size > 0) return;
    // What the client still sends must not complete the request, and would reset a closed connection.
    socket.pause();
    setTimeout(() => socket.destroy(), apiError ? 1000 : 0).unref();
    if (apiError === undefined || connection.unread?.complete === false) return;
    const { error, message } = apiError;
    const status = toStatus(apiError);
    const requestId = `${cut?.getHeader('X-Request-Id') ?? randomUUID()}`;
    socket.end(formatResponse(status, requestId, JSON.stringify({ error, message })));
    const { log, accessLog = true, observe } = this.#options;
    observe?.({ status, error });
    if (accessLog) log?.info({ requestId, status, error, reason: message }, 'request');
  }
}

/** Returns the error for what Node reports about a client; `undefined` if the client has left. */
function toApiError({ code = '' }: NodeJS.ErrnoException): ApiError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return /^HPE_(?!INVALID_EOF_STATE)/.test(code) ? apiErrors.malformedHttp : undefined;
}

function formatResponse(status: number, requestId: string, body: string): string {
  const first = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nDate: ${new Date().toUTCString()}`;
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return `${first}\r\nX-Request-Id: ${requestId}\r\n${type}\r\nConnection: close\r\n\r\n${body}`;
}
