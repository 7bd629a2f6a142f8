import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Koa from 'koa';
import { apiErrors, statusOf } from '../api/index.js';
import { type AppOptions, reportSafely } from './app.js';
import { HttpError } from './http-error.js';
import { toRequestId } from './request-head.js';

/** Options of {@link HttpServer}. Timeouts are in milliseconds. */
export interface ServerOptions extends Pick<AppOptions, 'admission' | 'log' | 'onRequestEnd'> {
  /** Maximum time for the headers of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** Maximum time for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open, and how long a response may wait for a client that does not read. */
  readonly keepAliveTimeoutMs: number;
  /** Maximum number of open connections; unlimited by default. */
  readonly maxConnections?: number;
}

/** Maximum size of all headers of a request together. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How often Node checks for requests that timed out. */
const TIMEOUT_CHECK_INTERVAL_MS = 500;
/** How long a connection stays open after the response to a malformed request, so that the client can read it. */
const LINGER_MS = 1000;
/** Maximum number of pipelined requests per connection; the last one gets `Connection: close`. */
const MAX_QUEUED_REQUESTS = 100;
/** Maximum number of queued requests, including those after `Connection: close`, before the socket is destroyed. */
const MAX_READ_REQUESTS = 200;
/** Number of turns without arrivals after which all data has been read: accepting takes one turn, reading another. */
const QUIET_TURNS = 3;
/** Maximum number of turns that a shutdown waits for arrivals to stop. */
const MAX_TURNS = 1000;

/** A request whose body can be aborted without losing the response. */
class AbortableRequest extends IncomingMessage {
  /** Ends the body with `error`, unless it has failed already. */
  abortBody(error: HttpError): void {
    this.on('error', () => {});
    this.destroy(error);
  }

  /** Keeps the socket open after {@link abortBody}; `IncomingMessage` would destroy it. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error instanceof HttpError) callback(error);
    else super._destroy(error, callback);
  }
}

type Response = ServerResponse<AbortableRequest>;

/** The requests of a connection, processed one at a time. */
interface Connection {
  /** Responses in order. The first is in progress; one that closes the connection stays, so that no other follows. */
  readonly queue: Response[];
  /** Malformed HTTP or a timeout. Sent after the last queued response, or as the response to an incomplete request. */
  clientError?: HttpError;
}

/** The Node server around a Koa app: pipelining, timeouts, malformed HTTP and graceful shutdown. */
export class HttpServer {
  readonly #server: Server<typeof AbortableRequest>;
  readonly #handle: ReturnType<Koa['callback']>;
  readonly #options: ServerOptions;
  readonly #connections = new Map<Duplex, Connection>();
  #stopping = false;
  /** Number of connections and requests so far. */
  #arrivals = 0;

  constructor(app: Koa, options: ServerOptions) {
    this.#handle = app.callback();
    this.#options = options;
    this.#server = createServer({
      IncomingMessage: AbortableRequest,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
    });
    this.#server.maxConnections = options.maxConnections ?? Number.POSITIVE_INFINITY;
    // Undocumented. Without it, clients that half-close after sending (`nc -N`, shell scripts) get no response.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    // The limit is on bytes; by default Node silently drops headers after the 1,000th.
    this.#server.maxHeadersCount = 0;
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      this.#server.on(event, (_, res) => this.#enqueue(res));
    }
    this.#server.on('connection', (socket) => {
      this.#arrivals++;
      this.#connections.set(socket, { queue: [] });
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('clientError', (error, socket) => this.#onClientError(error, socket));
    this.#server.on('timeout', (socket) => {
      const current = this.#connections.get(socket)?.queue[0];
      if (!current || current.writableEnded) socket.destroy();
    });
  }

  /** Whether {@link stop} was called. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Listens; rejects with the operating system's error if that fails. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    await once(this.#server.listen(port, host), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('not listening on a TCP port');
    return address;
  }

  /**
   * Stops listening, closes idle connections, and finishes every request whose body has arrived. After half
   * the timeout, rejects requests whose bodies have not arrived, and disconnects clients that do not read responses.
   * @param timeoutMs The maximum time until every connection is closed.
   * @returns Whether every create that reached the storage got its response.
   */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#stopping = true;
    const queues = [...this.#connections.values()].map(({ queue }) => queue);
    this.#options.admission.stop(queues.flat().map(({ req }) => req));
    for (const last of queues.map((queue) => queue.at(-1)))
      if (!last?.headersSent) last?.setHeader('Connection', 'close');
    let isComplete = true;
    const halfTime = setTimeout(() => this.#endStalled(), timeoutMs / 2);
    const deadline = setTimeout(() => {
      // After half the timeout, every create in flight has reached the storage.
      const current = [...this.#connections.values()].flatMap(({ queue }) => queue.slice(0, 1));
      isComplete = this.#options.admission.pending === 0 || current.every((res) => res.headersSent);
      for (const socket of this.#connections.keys()) socket.destroy();
    }, timeoutMs);

    await this.#readArrived();
    // `close` of the HTTP server would cut off clients that are still reading a response, and disable REQUEST_TIMEOUT.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(this.#server, resolve));
    await this.#readArrived();
    for (const [socket, { queue }] of this.#connections) if (queue.length === 0) socket.destroy();
    await closed;
    clearTimeout(halfTime);
    clearTimeout(deadline);
    // Ends the checks for requests that timed out.
    this.#server.close();
    return isComplete;
  }

  /** Accepts and reads what clients have already sent, so that they get a response instead of a reset. */
  async #readArrived(): Promise<void> {
    for (let turn = 0, quietTurns = 0; turn < MAX_TURNS && quietTurns < QUIET_TURNS; turn++) {
      const arrivals = this.#arrivals;
      await nextTurn();
      quietTurns = this.#arrivals === arrivals ? quietTurns + 1 : 0;
    }
  }

  #endStalled(): void {
    for (const [socket, { queue }] of this.#connections) {
      const latest = queue.at(-1)?.req;
      if (latest?.complete === false) latest.abortBody(new HttpError(apiErrors.shuttingDown));
      else if (socket.writableLength > 0 && queue[0]?.writableEnded) socket.destroy();
    }
  }

  #enqueue(res: Response): void {
    const { socket, headers } = res.req;
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#arrivals++;
    const length = connection.queue.push(res);
    if (length > MAX_READ_REQUESTS) socket.destroy();
    // Node drops the rest of a packet after a request to upgrade.
    const isLast = this.#stopping || length === MAX_QUEUED_REQUESTS || headers.upgrade !== undefined;
    if (isLast) res.setHeader('Connection', 'close');
    if (length === 1) this.#processNext(socket, connection);
  }

  #processNext(socket: Socket, connection: Connection): void {
    const { queue, clientError } = connection;
    const res = queue[0];
    if (res === undefined) {
      if (clientError) this.#respondToClientError(socket, clientError);
      else if (this.#stopping) socket.destroySoon();
      return;
    }
    res.once('close', () => {
      if (socket.destroyed || res.getHeader('Connection') === 'close' || !res.shouldKeepAlive) return;
      queue.shift();
      this.#processNext(socket, connection);
    });
    this.#handle(res.req, res).then(() => {
      if (socket.writableLength > 0) socket.setTimeout(this.#options.keepAliveTimeoutMs);
    });
  }

  /** Handles malformed HTTP and requests that timed out. */
  #onClientError(error: Error, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    const httpError = toClientError(error);
    if (!connection || !httpError) return void socket.destroy();
    // Node reports the error again for each further packet.
    if (connection.clientError) return;
    connection.clientError = httpError;
    const latest = connection.queue.at(-1);
    if (!latest) return void this.#respondToClientError(socket, httpError);
    if (latest.req.complete) return;
    // Its response is the last one, even if the rest of the body still arrives.
    if (!latest.headersSent) latest.setHeader('Connection', 'close');
    latest.req.abortBody(httpError);
  }

  #respondToClientError(socket: Duplex, { apiError }: HttpError): void {
    if (!socket.writable) return;
    const requestId = toRequestId(undefined);
    const status = statusOf(apiError);
    const body = JSON.stringify(apiError);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `X-Request-Id: ${requestId}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Date: ${new Date().toUTCString()}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    reportSafely(() => {
      const { error, message } = apiError;
      this.#options.log.info({ requestId, status, error, reason: message }, 'request');
      this.#options.onRequestEnd?.({ status, error });
    });
  }
}

function toClientError(error: Error): HttpError | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new HttpError(apiErrors.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return new HttpError(apiErrors.headersTooLarge);
  if (code.startsWith('HPE_')) return new HttpError(apiErrors.malformedHttp);
  return undefined;
}
