import type { AddressInfo } from 'node:net';
import type { RequestLog } from './exchange.js';

/** A listener for clients. Any HTTP framework can implement it. */
export interface HttpServer {
  /** Whether {@link stop} was called. */
  readonly isStopping: boolean;
  /** Number of open connections. */
  readonly connections?: number;
  /** Listens; rejects with the operating system's error if that fails. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Stops listening, finishes the requests in progress, and disconnects the remaining clients after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

/** Options of `NodeHttpServer`. */
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
