import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection } from './connection.js';
import { MAX_HEADERS, type RequestLog } from './exchange.js';

/** A listener for clients. Any HTTP framework can implement it. */
export interface HttpServer {
  /** Whether {@link stop} was called. */
  readonly isStopping: boolean;
  /** Number of open connections. */
  readonly connections?: number;
  /** Listens; rejects with the operating system's error if that fails. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /**
   * Stops listening, and finishes the requests that have arrived.
   * @param timeoutMs Maximum time until every connection is closed.
   * @returns Whether every request that arrived got its response.
   */
  stop(timeoutMs: number): Promise<boolean>;
}

/** Options of {@link NodeHttpServer}. */
export interface HttpServerOptions extends RequestLog {
  /** Maximum time for the headers of a request to arrive. @default 10000 */
  readonly headersTimeoutMs?: number;
  /** Maximum time for a whole request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number;
  /** Maximum time for a connection to be idle, or for a client not to read its response. @default 65000 */
  readonly keepAliveTimeoutMs?: number;
  /** Maximum number of open connections. @default unlimited */
  readonly maxConnections?: number;
}

/** A Node server with limits on each connection, `ApiError` bodies for malformed HTTP, and graceful shutdown. */
export class NodeHttpServer implements HttpServer {
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  isStopping = false;

  constructor(listener: RequestListener, options: HttpServerOptions = {}) {
    const { keepAliveTimeoutMs = 65_000, maxConnections = Number.POSITIVE_INFINITY } = options;
    const server = createServer({
      headersTimeout: options.headersTimeoutMs ?? 10_000,
      requestTimeout: options.requestTimeoutMs ?? 30_000,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Node's default would delay a timeout by up to 30 s.
      connectionsCheckingInterval: 500,
      requireHostHeader: false,
      // Maximum unread bytes of a body. A chunk takes some 400 bytes of memory, and can contain a single byte.
      highWaterMark: 512,
    });
    this.#server = server;
    server.maxConnections = maxConnections;
    // Node silently drops further headers. One more than allowed shows that there are too many.
    server.maxHeadersCount = MAX_HEADERS + 1;
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Connection(socket, keepAliveTimeoutMs, options));
      socket.once('close', () => this.#connections.delete(socket));
    });
    const onRequest = (req: IncomingMessage, res: ServerResponse) => {
      if (this.#connections.get(req.socket)?.add(res)) listener(req, res);
    };
    for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest);
    // Node does not close a connection whose client does not read.
    server.setTimeout(keepAliveTimeoutMs, (socket) => this.#connections.get(socket)?.closeIfIdle());
    server.on('clientError', (error, socket) => this.#connections.get(socket)?.fail(error));
    server.on('connect', ({ socket }) => this.#connections.get(socket)?.close());
  }

  get connections(): number {
    return this.#connections.size;
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    // Node's default backlog, 511, makes clients that connect at once wait for a second.
    await once(this.#server.listen({ port, host, backlog: 4096 }), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('not listening on a TCP port');
    return address;
  }

  /** After half of the time, rejects requests that have not arrived, and disconnects clients that do not read. */
  async stop(timeoutMs: number): Promise<boolean> {
    this.isStopping = true;
    // Also destroys connections that are idle after a request, or on which the client has not read a finished response.
    const closed = once(this.#server.close(), 'close');
    let isComplete = true;
    for (const [socket, connection] of this.#connections) {
      isComplete &&= !socket.destroyed || connection.hasResponded;
      connection.stop();
    }
    setTimeout(() => {
      for (const connection of this.#connections.values()) connection.rejectLate();
    }, timeoutMs / 2).unref();
    setTimeout(() => {
      for (const [socket, { hasResponded }] of this.#connections) {
        isComplete &&= hasResponded;
        socket.destroy();
      }
    }, timeoutMs).unref();
    await closed;
    return isComplete;
  }
}
