import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { apiErrors } from '../api/index.js';
import { ApiException, sendErrorTo } from './api-exception.js';
import { rejectBody } from './body.js';
import { type RequestLog, reportSafely } from './exchange.js';

/** Number of requests in progress at which a connection is not read. */
const MAX_IN_PROGRESS = 2;
/** The same while the body of the latest request arrives, because an early rejection would close the connection. */
const MAX_IN_PROGRESS_WITH_BODY = 8;
/** Maximum bytes parsed at once: Node reads 64 KiB, which can contain 2,600 requests of 1.5 kB of heap each. */
const MAX_PARSED_BYTES = 512;
/** Maximum bytes parsed at once inside a body, which contains no request. */
const MAX_BODY_BYTES = 16 * 1024;

const SHUTTING_DOWN = new ApiException(apiErrors.shuttingDown);

/** A client connection. It is read in small steps, and not while several requests are in progress. */
export class Connection {
  readonly #socket: Socket;
  readonly #maxIdleMs: number;
  readonly #log: RequestLog;
  /** Responses that have not been sent completely. */
  readonly #inProgress = new Set<ServerResponse>();
  #latest: ServerResponse | undefined;
  /** At least this much of the body of the latest request has not been read. */
  #bodyBytes = 0;
  /** Ends the connection after the responses in progress. */
  #end: (() => void) | undefined;
  /** Whether reading waits for a response, or for the client to read one. */
  #hasStopped = false;
  #isStopping = false;
  #isRejecting = false;
  /** Whether a request timed out while the server had stopped reading. */
  #isLate = false;

  /** @param maxIdleMs Maximum time for the client not to read a response. */
  constructor(socket: Socket, maxIdleMs: number, log: RequestLog) {
    this.#socket = socket;
    this.#maxIdleMs = maxIdleMs;
    this.#log = log;
    // A 'readable' listener stops Node from reading by itself (docs/decisions/0032-reading-in-small-steps.md).
    socket.on('readable', () => this.#read());
    for (const event of ['resume', 'drain']) socket.on(event, () => this.#readOn());
  }

  /** Whether every request that arrived has a response. */
  get hasResponded(): boolean {
    return [...this.#inProgress].every(({ headersSent }) => headersSent);
  }

  /** Adds a request. Returns `false` if the connection closes before it, so that it must not be processed. */
  add(res: ServerResponse): boolean {
    const latest = this.#latest;
    // Without 100 Continue, Node closes the connection after the response.
    if (latest?.req.headers.expect && !latest.headersSent) latest.setHeader('Connection', 'close');
    if (this.#end || isLast(latest)) return false;
    this.#latest = res;
    this.#bodyBytes = Number(res.req.headers['content-length'] ?? 0);
    this.#inProgress.add(res);
    res.on('close', () => {
      this.#inProgress.delete(res);
      this.#endIfDone();
      this.#readOn();
    });
    // Node drops the rest of a packet after a request to upgrade.
    if (res.req.headers.upgrade !== undefined) res.setHeader('Connection', 'close');
    if (this.#isRejecting) rejectBody(res.req, SHUTTING_DOWN);
    return true;
  }

  /** Rejects malformed HTTP, or a request that timed out, after the responses in progress. */
  fail(error: Error): void {
    const exception = parserErrorToApiException(error);
    if (!exception) this.#socket.destroy();
    // The client has sent more, but the server has stopped reading. Node does not report this request again.
    else if (exception.apiError === apiErrors.requestTimeout && this.#socket.readableLength > 0) this.#isLate = true;
    else if (this.#latest?.req.complete === false) rejectBody(this.#latest.req, exception);
    else this.#endWith(() => this.#respond(exception));
  }

  /** Closes a connection without traffic, unless the next response is not ready or Node will report a late request. */
  closeIfIdle(): void {
    const isIdle = this.#latest !== undefined && this.#inProgress.size === 0;
    if (isIdle || this.#isLate || this.#socket.writableLength > 0) this.#socket.destroy();
  }

  /** Closes the connection after the responses in progress. Node no longer handles its errors and timeouts. */
  close(): void {
    this.#socket.on('error', () => {}).setTimeout(this.#maxIdleMs, () => this.#socket.destroy());
    this.#endWith(() => this.#socket.destroySoon());
  }

  /** Closes the connection after the requests that have arrived, or at once if it was never used. */
  stop(): void {
    this.#isStopping = true;
    if (this.#socket.bytesRead === 0) this.#socket.destroy();
    else this.#announceClose();
  }

  /** Rejects what has not arrived, and disconnects a client that does not read. */
  rejectLate(): void {
    this.#isRejecting = true;
    if (this.#inProgress.size === 0) this.#respond(SHUTTING_DOWN);
    else if (this.#socket.writableLength > 0) this.#socket.destroy();
    else if (this.#latest) rejectBody(this.#latest.req, SHUTTING_DOWN);
  }

  /** Reads on in the next turn, so that a client with many requests does not delay others. */
  #readOn(): void {
    if (!this.#hasStopped) return;
    this.#hasStopped = false;
    setImmediate(() => this.#read());
  }

  #read(): void {
    do {
      this.#hasStopped = !this.#canRead();
      if (this.#hasStopped) break;
      const maxBytes = Math.max(MAX_PARSED_BYTES, Math.min(this.#bodyBytes, MAX_BODY_BYTES));
      const bytes = this.#readAtMost(maxBytes);
      if (bytes === null) break;
      // Subtracts headers, too, so that the rest is never too large.
      this.#bodyBytes -= bytes.length;
      // Otherwise, later data emits 'readable', and Node resumes the socket after each request, which emits 'end'.
    } while (this.#socket.readableLength > 0);
    this.#announceClose();
  }

  /** Emits 'data', to which the parser listens, or 'end'. */
  #readAtMost(maxBytes: number): Uint8Array | null {
    try {
      return this.#socket.read(Math.min(this.#socket.readableLength, maxBytes) || 1);
    } catch (error) {
      if (Object(error).code !== 'ERR_INTERNAL_ASSERTION') throw error;
      // If a version of Node pauses by another rule than canRead, this connection ends instead of the process.
      this.#socket.destroy();
      return null;
    }
  }

  #canRead(): boolean {
    const { size } = this.#inProgress;
    const { writable, writableNeedDrain, writableHighWaterMark } = this.#socket;
    let unread = 0;
    for (const { writableLength } of this.#inProgress) unread += writableLength;
    // At these limits Node pauses the socket, and fails an assertion if data arrives before the client reads responses.
    // A socket that is not writable stays paused.
    if (!writable || writableNeedDrain || unread >= writableHighWaterMark) return false;
    const req = this.#latest?.req;
    if (req?.complete !== false) return size < MAX_IN_PROGRESS && !isLast(this.#latest);
    return size < MAX_IN_PROGRESS_WITH_BODY && req.readableLength < req.readableHighWaterMark;
  }

  /** During a shutdown, makes the response to the last request that has arrived the last one of the connection. */
  #announceClose(): void {
    if (!this.#isStopping || this.#socket.readableLength > 0 || this.#latest?.headersSent) return;
    this.#latest?.setHeader('Connection', 'close');
  }

  /** Calls `end` after the responses in progress. */
  #endWith(end: () => void): void {
    this.#end ??= end;
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#inProgress.size === 0) this.#end?.();
  }

  /** Responds where Node has no request to respond to, and closes the connection. */
  #respond(exception: ApiException): void {
    // A timeout or a shutdown can follow malformed HTTP.
    if (!this.#socket.writable) return;
    const requestId = sendErrorTo(this.#socket, exception);
    const { status, apiError } = exception;
    reportSafely(() => {
      if (this.#log.accessLog !== false)
        this.#log.log?.info({ requestId, status, error: apiError.error, reason: apiError.message }, 'request');
      this.#log.onRequestEnd?.({ status, error: apiError.error });
    });
  }
}

/** Returns whether the connection closes after this response, so that later requests must not be processed. */
function isLast(res: ServerResponse | undefined): boolean {
  return res !== undefined && (!res.shouldKeepAlive || res.getHeader('Connection') === 'close');
}

/** Returns the error to send; `undefined` if the connection is broken. */
function parserErrorToApiException(error: Error): ApiException | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiException(apiErrors.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiException(apiErrors.headersTooLarge);
  return code.startsWith('HPE_') ? new ApiException(apiErrors.malformedHttp) : undefined;
}
