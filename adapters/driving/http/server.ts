import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpApi, MAX_HEADERS } from './http-api.js';
import type { Reply } from './reply.js';

/** Maximum number of requests without a response per connection. */
const MAX_OUTSTANDING = 16;

/** Time for a client to read a last response, because what it still sends would reset a closed connection. */
const LINGER_MS = 1000;

/** Limits of {@link NodeHttpServer}. */
export interface HttpServerOptions {
  /** Maximum time for the headers of a request to arrive. @default 10000 */
  readonly headersTimeoutMs?: number | undefined;
  /** Maximum time for a whole request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Maximum time for a connection to be idle, or for a client not to read its response. @default 65000 */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Maximum time for {@link NodeHttpServer.stop} to finish the requests in progress. @default 10000 */
  readonly shutdownTimeoutMs?: number | undefined;
  /** Maximum number of open connections. @default unlimited */
  readonly maxConnections?: number | undefined;
  /** Replies to malformed HTTP and late requests. @default none: disconnects the client */
  readonly api?: Pick<HttpApi, 'handleClientError'> | undefined;
}

interface Connection {
  /** Number of requests without a response. */
  outstanding: number;
  /** The response to the latest request. */
  latest?: ServerResponse;
  /** Whether the connection ends after the outstanding responses. */
  isEnding: boolean;
}

/** A Node server with limits on each connection, replies to malformed HTTP, and graceful shutdown. */
export class NodeHttpServer {
  readonly #server: Server;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #api: HttpServerOptions['api'];
  readonly #shutdownTimeoutMs: number;
  #stopped: Promise<void> | undefined;

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
    this.#api = options.api;
    this.#shutdownTimeoutMs = options.shutdownTimeoutMs ?? 10_000;
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
    server.on('clientError', (error, socket) => this.#reject(error, socket));
    server.setTimeout(keepAliveTimeoutMs, (socket) => {
      const { outstanding, latest } = this.#connections.get(socket) ?? {};
      // Others wait for their response, or for Node to report a late request.
      if ((latest && outstanding === 0) || socket.writableLength > 0) socket.destroy();
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
    // `close` calls it, and Node's own also ends connections on which a response is still being sent.
    this.#server.closeIdleConnections = () => {};
    const closed = once(this.#server.close(), 'close');
    for (const [socket, { outstanding, latest }] of this.#connections) {
      if (outstanding === 0) socket.destroy();
      else if (latest?.headersSent === false) latest.setHeader('Connection', 'close');
    }
    const timer = setTimeout(() => this.#server.closeAllConnections(), this.#shutdownTimeoutMs);
    await closed;
    clearTimeout(timer);
  }

  /** Counts a request until its response is sent. Returns `false` if the connection ends before it. */
  #accept(res: ServerResponse): boolean {
    const { socket, headers } = res.req;
    const connection = this.#connections.get(socket);
    if (connection?.outstanding === MAX_OUTSTANDING) socket.destroy();
    if (!connection || connection.isEnding || this.#stopped || socket.destroyed) return false;
    // Node drops what follows such a request in its packet, so later packets may start in the middle of a request.
    if (connection.latest?.req.headers.upgrade !== undefined) return false;
    if (headers.upgrade !== undefined) res.setHeader('Connection', 'close');
    connection.latest = res;
    connection.outstanding++;
    res.on('close', () => {
      connection.outstanding--;
      if ((connection.isEnding || this.#stopped) && connection.outstanding === 0) socket.destroySoon();
    });
    return true;
  }

  /** Ends a connection because of malformed HTTP or a timeout, after the outstanding responses if there are any. */
  #reject(error: Error, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    // Node also reports each packet after malformed HTTP.
    if (!connection || connection.isEnding) return;
    connection.isEnding = true;
    const { latest } = connection;
    const isInBody = latest?.req.complete === false;
    // The handler cannot respond, because the rest of the body is malformed or late.
    if (isInBody && !latest.headersSent) connection.outstanding--;
    if (connection.outstanding > 0) return;
    // A response to an incomplete request that has been sent already is the last one.
    const isLast = isInBody && latest.headersSent;
    const reply = isLast ? undefined : this.#api?.handleClientError(error, isInBody ? latest : undefined);
    if (reply === undefined) {
      socket.destroy();
      return;
    }
    writeReply(socket, reply);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

/** Writes a reply where Node has no response to write it with. */
function writeReply(socket: Duplex, { status, headers, body }: Reply): void {
  const length = Buffer.byteLength(body);
  const all = { Date: new Date().toUTCString(), ...headers, 'Content-Length': length, Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
