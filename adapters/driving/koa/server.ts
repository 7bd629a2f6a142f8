import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { type ApiError, apiErrors, toStatus } from '../api/index.js';
import type { LogOptions } from './log-requests.js';

/** Maximum number of headers of a request. */
const MAX_HEADERS = 100;

/** Maximum number of requests without a response per connection. */
const MAX_PENDING = 16;

/** Time for a client to read a last response, because what it still sends would reset a closed connection. */
const LINGER_MS = 1000;

/** Limits of {@link HttpServer}, which reports only the requests that it responds to itself. */
export interface HttpServerOptions extends LogOptions {
  /** Maximum time for the headers of a request to arrive. @default 10000 */
  readonly headersTimeoutMs?: number | undefined;
  /** Maximum time for a whole request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum time for a connection to be idle, or for a client not to read its response. @default 65000 */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Maximum time for {@link HttpServer.stop} to finish the requests in progress. @default 10000 */
  readonly shutdownTimeoutMs?: number | undefined;
  /** Maximum number of open connections. @default unlimited */
  readonly maxConnections?: number | undefined;
}

interface Connection {
  /** The responses that have not been sent, in order. */
  readonly pending: Set<http.ServerResponse>;
  /** Whether the response to the latest request was sent before its body had arrived. */
  hasUnreadBody: boolean;
  /** Whether the connection ends after the pending responses. */
  isEnding: boolean;
}

/** A Node server for any listener, with limits on each connection, Error objects for malformed HTTP, and graceful shutdown. */
export class HttpServer {
  readonly #server: http.Server;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #options: HttpServerOptions;
  #stopped: Promise<void> | undefined;

  constructor(listener: http.RequestListener, options: HttpServerOptions = {}) {
    const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000 } = options;
    const server = http.createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Node's default would delay a timeout by up to 30 s.
      connectionsCheckingInterval: 500,
      requireHostHeader: false,
      // Maximum unread bytes of a body. A chunk takes some 400 bytes of memory, and can contain a single byte.
      highWaterMark: 512,
    });
    this.#server = server;
    this.#options = options;
    server.maxConnections = options.maxConnections ?? Number.POSITIVE_INFINITY;
    // Node silently drops further headers. One more than allowed shows that there are too many.
    server.maxHeadersCount = MAX_HEADERS + 1;
    server.on('connection', (socket) => {
      this.#connections.set(socket, { pending: new Set(), hasUnreadBody: false, isEnding: false });
      socket.on('close', () => this.#connections.delete(socket));
    });
    const onRequest = (req: http.IncomingMessage, res: http.ServerResponse) => {
      if (!this.#accept(req, res)) return;
      if (req.rawHeaders.length <= 2 * MAX_HEADERS) listener(req, res);
      else this.#reject(apiErrors.headersTooLarge, req.socket);
    };
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest);
    server.on('clientError', (error, socket) => this.#reject(toClientError(error), socket));
    server.setTimeout(keepAliveTimeoutMs, (socket) => {
      const isIdle = socket.bytesWritten > 0 && this.#connections.get(socket)?.pending.size === 0;
      // Others wait for their response, or for Node to report a late request.
      if (isIdle || socket.writableLength > 0) socket.destroy();
    });
  }

  /** Whether {@link stop} was called. */
  get isStopping(): boolean {
    return this.#stopped !== undefined;
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
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Disconnects all clients. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
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

  /** Counts a request until its response is sent. Returns `false` if the connection ends before it. */
  #accept(req: http.IncomingMessage, res: http.ServerResponse): boolean {
    const { socket } = req;
    const connection = this.#connections.get(socket);
    if (connection?.pending.size === MAX_PENDING) socket.destroy();
    if (!connection || connection.isEnding || this.#stopped || socket.destroyed) return false;
    connection.hasUnreadBody = false;
    connection.pending.add(res);
    res.on('close', () => {
      connection.hasUnreadBody = !req.complete;
      connection.pending.delete(res);
      if ((connection.isEnding || this.#stopped) && connection.pending.size === 0) socket.destroySoon();
    });
    if (req.headers.upgrade !== undefined) {
      // Node drops what follows in its packet, so later packets may start in the middle of a request.
      connection.isEnding = true;
      res.setHeader('Connection', 'close');
    }
    return true;
  }

  /** Ends a connection with an error, or without a response if others are pending or the client has left. */
  #reject(apiError: ApiError | undefined, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    // Node also reports each packet after malformed HTTP.
    if (!connection || socket.writableEnded) return;
    const { pending, hasUnreadBody } = connection;
    connection.isEnding = true;
    const latest = [...pending].at(-1);
    // The listener cannot respond, because the rest of the body is malformed or late.
    const unread = latest?.req.complete === false && !latest.headersSent ? latest : undefined;
    if (unread) pending.delete(unread);
    if (pending.size > 0) return;
    if (apiError === undefined || hasUnreadBody) {
      socket.destroy();
      return;
    }
    const requestId = `${unread?.getHeader('X-Request-Id') ?? randomUUID()}`;
    socket.end(formatResponse(apiError, requestId));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    const { log, accessLog = true, observe } = this.#options;
    const { error, message: reason } = apiError;
    const status = toStatus(apiError);
    observe?.({ status, error });
    if (accessLog) log?.info({ requestId, status, error, reason }, 'request');
  }
}

/** Returns the error for what Node reports about a client; `undefined` if the client has left. */
function toClientError({ code = '' }: NodeJS.ErrnoException): ApiError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return /^HPE_(?!INVALID_EOF_STATE)/.test(code) ? apiErrors.malformedHttp : undefined;
}

/** Returns a response to write where Node has none. */
function formatResponse(apiError: ApiError, requestId: string): string {
  const { error, message } = apiError;
  const status = toStatus(apiError);
  const body = JSON.stringify({ error, message });
  const headers = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
