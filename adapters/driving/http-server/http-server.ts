import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { type ApiError, apiErrors, toStatus } from '../api/api-errors.js';
import { toRequestId } from '../api/request-headers.js';
import type { LogOptions } from '../api/request-log.js';
import { clientErrorToApiError, connectNotAllowed, formatResponse } from './malformed-http.js';

/** Maximum number of headers of a request, and of requests that wait for a response: more than a read of creates has. */
const [MAX_HEADERS, MAX_PENDING] = [100, 512];
/** Maximum time for a client to close a connection that has ended, in milliseconds. */
const LINGER_MS = 500;

/** Options of {@link HttpServer}, which reports the requests to which it responds itself. */
export interface HttpServerOptions extends LogOptions {
  /** Maximum number of connections. At least 1. Further ones are closed at once. @default 1000 */
  readonly maxConnections?: number | undefined;
  /** Maximum time for the headers of a request to arrive. @default 10000 */
  readonly headersTimeoutMs?: number | undefined;
  /** Maximum time for a whole request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum time for a connection to be idle, or for a client not to read its response. @default 65000 */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Maximum time for {@link HttpServer.stop} to finish the requests in progress. @default 10000 */
  readonly shutdownTimeoutMs?: number | undefined;
}

/** Refers to requests in progress alone, so that an idle connection keeps nothing of its last one. */
interface Connection {
  /** The responses that have not been sent, in order. The listener has got the first alone. */
  readonly pending: http.ServerResponse[];
  /** The response to the request whose body is arriving. It may have been sent. */
  arriving?: http.ServerResponse | undefined;
  /** The response after which the connection ends. */
  last?: http.ServerResponse | undefined;
}

/** A Node server for any listener, with limits per connection, Error objects for malformed HTTP, and graceful shutdown. */
export class HttpServer {
  /** Whether {@link stop} was called. */
  isStopping = false;
  readonly #server: http.Server;
  readonly #listener: http.RequestListener;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #options: HttpServerOptions;

  constructor(listener: http.RequestListener, options: HttpServerOptions = {}) {
    const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000 } = options;
    this.#listener = listener;
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
    this.#server.maxConnections = options.maxConnections ?? 1000;
    // Node silently drops further headers. One more than allowed shows that there are too many.
    this.#server.maxHeadersCount = MAX_HEADERS + 1;
    this.#server.on('connection', (socket) => {
      const connection: Connection = { pending: [] };
      this.#connections.set(socket, connection);
      socket.on('close', () => this.#connections.delete(socket));
      // Node calls it after a response with `Connection: close`.
      socket.destroySoon = () => this.#end(socket);
      // Reading a body also resumes the connection.
      socket.on('resume', () => {
        if (socket.writableEnded ? connection.arriving?.headersSent === false : connection.pending.length > 1)
          socket.pause();
      });
    });
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, this.#accept);
    this.#server.on('connect', (req, socket) => {
      // Node no longer listens to this socket. An error without a listener would end the process.
      socket.on('error', () => {}).on('timeout', () => this.#server.emit('timeout', socket));
      this.#accept(req, new http.ServerResponse(req));
    });
    this.#server.on('clientError', (error, socket) => this.#reject(socket, clientErrorToApiError(error)));
    this.#server.setTimeout(keepAliveTimeoutMs, (socket) => {
      const isIdle = socket.bytesWritten > 0 && this.#connections.get(socket)?.pending.length === 0;
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
  async stop(): Promise<void> {
    this.isStopping = true;
    // Node's own `close` would first stop its check of time limits, and drop responses that clients have not read.
    const closed = once(net.Server.prototype.close.call(this.#server), 'close');
    for (const [socket, connection] of this.#connections) {
      connection.last ??= connection.pending.at(-1);
      if (connection.last === undefined) this.#end(socket);
      else if (!connection.last.headersSent) connection.last.setHeader('Connection', 'close');
    }
    const timer = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy();
    }, this.#options.shutdownTimeoutMs ?? 10_000);
    await closed;
    clearTimeout(timer);
    this.#server.close();
  }

  readonly #accept = (req: http.IncomingMessage, res: http.ServerResponse): void => {
    const { socket } = req;
    const connection = this.#connections.get(socket);
    if (connection === undefined || socket.writableEnded || socket.destroyed) return;
    const { pending } = connection;
    pending.push(res);
    connection.arriving = res;
    req.on('close', () => {
      if (connection.arriving === res) connection.arriving = undefined;
    });
    // Node drops what follows in its packet, so later packets may start in the middle of a request.
    if (req.headers.upgrade !== undefined) {
      connection.last ??= res;
      res.setHeader('Connection', 'close');
    }
    if (pending.length === 1) this.#next(socket, connection);
    else socket.pause();
    if (pending.length === MAX_PENDING + 1)
      setImmediate(() => {
        if (pending.length > MAX_PENDING) socket.destroy();
      });
  };

  /** Hands the first pending request to the listener, and the next once its response is sent, until the connection ends. */
  #next(socket: Duplex, connection: Connection): void {
    const { pending } = connection;
    const [res] = pending;
    if (res === undefined || socket.writableEnded || socket.destroyed) return;
    res.on('close', () => {
      if (pending[0] === res) pending.shift();
      if (connection.last === res) this.#end(socket);
      if (pending.length === 1) socket.resume();
      if (pending.length > 0) this.#next(socket, connection);
    });
    if (res.req.method === 'CONNECT') this.#end(socket, connectNotAllowed, res.req);
    else if (res.req.rawHeaders.length > 2 * MAX_HEADERS) this.#end(socket, apiErrors.headersTooLarge, res.req);
    else this.#listener(res.req, res);
  }

  /** Ends a connection on which nothing further can be read, after the responses that are pending. */
  #reject(socket: Duplex, apiError: ApiError | undefined): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || socket.writableEnded) return;
    const { pending, arriving, last } = connection;
    const cut = arriving?.req.complete === false ? arriving : undefined;
    // Node reports each packet after malformed HTTP, and goes on parsing after a late request.
    if (last !== undefined && last !== cut) return;
    // The listener cannot respond, because the rest of the body is malformed or late.
    if (cut?.headersSent === false && pending.at(-1) === cut) pending.pop();
    connection.last = pending.at(-1);
    if (connection.last !== undefined) return;
    this.#end(socket, cut?.headersSent ? undefined : apiError, cut?.req);
    // What the client still sends must not complete the request.
    socket.pause();
  }

  /** Ends a connection, with an error for a request that the listener does not get, or cannot respond to. */
  #end(socket: Duplex, apiError?: ApiError, req?: http.IncomingMessage): void {
    if (socket.writableEnded) return;
    const requestId = toRequestId(req?.headers['x-request-id']);
    // A connection that is closed before all is read is reset, and then the client may not get its last response.
    const linger = () => setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.end(apiError ? formatResponse(apiError, requestId) : '', linger).resume();
    if (apiError === undefined) return;
    const { log, accessLog = true, observe } = this.#options;
    const { error, message: reason } = apiError;
    observe?.({ status: toStatus(apiError), error });
    if (accessLog) log?.info({ requestId, status: toStatus(apiError), error, reason }, 'request');
  }
}
