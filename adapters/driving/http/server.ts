import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { MAX_HEADERS, type RequestLog, rejectConnection } from './exchange.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';

/** Maximum number of requests without a response per connection. */
const MAX_OUTSTANDING = 16;

/** The number of requests without a response on a connection, and the response to its latest request. */
interface Connection {
  outstanding: number;
  latest?: ServerResponse;
  /** Whether the connection ends after the outstanding responses. */
  isEnding: boolean;
}

/** A Node server with limits on each connection, `ApiError` bodies for malformed HTTP, and graceful shutdown. */
export class NodeHttpServer implements HttpServer {
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  isStopping = false;

  constructor(listener: RequestListener, options: HttpServerOptions = {}) {
    const { headersTimeoutMs = 10_000, requestTimeoutMs = 30_000, keepAliveTimeoutMs = 65_000 } = options;
    const server = createServer({
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
    server.maxConnections = options.maxConnections ?? Number.POSITIVE_INFINITY;
    // Node silently drops further headers. One more than allowed shows that there are too many.
    server.maxHeadersCount = MAX_HEADERS + 1;
    server.on('connection', (socket) => {
      this.#connections.set(socket, { outstanding: 0, isEnding: false });
      socket.on('close', () => this.#connections.delete(socket));
    });
    const onRequest = (req: IncomingMessage, res: ServerResponse) => {
      if (this.#accept(res)) listener(req, res);
    };
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest);
    server.setTimeout(keepAliveTimeoutMs, (socket) => {
      const { outstanding, latest } = this.#connections.get(socket) ?? {};
      // Others wait for their response, or for Node to report a late request.
      if ((latest && outstanding === 0) || socket.writableLength > 0) socket.destroy();
    });
    server.on('clientError', (error, socket) => this.#reject(error, socket, options));
  }

  get connections(): number {
    return this.#connections.size;
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    await once(this.#server.listen(port, host), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('not listening on a TCP port');
    return address;
  }

  async stop(timeoutMs: number): Promise<void> {
    this.isStopping = true;
    // `close` calls it, and Node's own also ends connections on which a response is still being sent.
    this.#server.closeIdleConnections = () => {};
    const closed = once(this.#server.close(), 'close');
    for (const [socket, { outstanding, latest }] of this.#connections) {
      if (outstanding === 0) socket.destroy();
      else if (latest?.headersSent === false) latest.setHeader('Connection', 'close');
    }
    const timer = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
    await closed;
    clearTimeout(timer);
  }

  /** Counts a request until its response is sent. Returns `false` if the connection ends before it. */
  #accept(res: ServerResponse): boolean {
    const { socket } = res.req;
    const connection = this.#connections.get(socket);
    if (connection?.outstanding === MAX_OUTSTANDING) socket.destroy();
    if (!connection || connection.isEnding || this.isStopping || socket.destroyed) return false;
    // Node drops what follows such a request in its packet, so later packets may start in the middle of a request.
    if (connection.latest?.req.headers.upgrade !== undefined) return false;
    if (res.req.headers.upgrade !== undefined) res.setHeader('Connection', 'close');
    connection.latest = res;
    connection.outstanding++;
    res.on('close', () => {
      connection.outstanding--;
      if (connection.outstanding === 0 && (connection.isEnding || this.isStopping)) socket.destroySoon();
    });
    return true;
  }

  /** Ends a connection because of malformed HTTP or a timeout, after the outstanding responses if there are any. */
  #reject(error: Error, socket: Duplex, log: RequestLog): void {
    const connection = this.#connections.get(socket);
    // Node also reports each packet after malformed HTTP.
    if (!connection || connection.isEnding) return;
    connection.isEnding = true;
    const { latest } = connection;
    const isInBody = latest?.req.complete === false;
    // Its handler cannot respond, because it waits for the body.
    if (isInBody && !latest.headersSent) connection.outstanding--;
    if (connection.outstanding > 0) return;
    if (isInBody && latest.headersSent) socket.destroy();
    else rejectConnection(socket, error, isInBody ? latest : undefined, log);
  }
}
