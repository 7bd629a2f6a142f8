import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ApiError, apiErrors, failureToApiError, toStatus } from '../api/index.js';

/** Maximum size of an unread body that is discarded after an early rejection. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
/** Maximum pause of a client while its body is discarded, or it reads the response to a malformed request. */
const LINGER_MS = 1000;

/** Headers by error number. `Retry-After` is in seconds (RFC 9110 §10.2.3). */
const headersOfErrors = new Map<number, Readonly<Record<string, string>>>([
  // It is not certain where the next request begins.
  [apiErrors.malformedHttp.error, { Connection: 'close' }],
  [apiErrors.noCredential.error, { 'WWW-Authenticate': 'Bearer realm="plant-store"' }],
  [apiErrors.invalidToken.error, { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' }],
  [apiErrors.storageUnavailable.error, { 'Retry-After': '5' }],
  [apiErrors.overloaded.error, { 'Retry-After': '1' }],
  [apiErrors.shuttingDown.error, { 'Retry-After': '5' }],
  [apiErrors.issuerUnavailable.error, { 'Retry-After': '5' }],
]);

/** Thrown to end a request with an {@link ApiError}. */
export class ApiException extends Error {
  override readonly name = 'ApiException';
  readonly apiError: ApiError;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(apiError: ApiError, options: ErrorOptions & Partial<Pick<ApiException, 'headers'>> = {}) {
    super(apiError.message, options);
    this.apiError = apiError;
    this.status = toStatus(apiError);
    this.headers = options.headers ?? headersOfErrors.get(apiError.error) ?? {};
  }
}

/** Converts any error to one that is safe to send. Only `cause` has the original message. */
export function toApiException(error: unknown): ApiException {
  return error instanceof ApiException ? error : new ApiException(failureToApiError(error), { cause: error });
}

/** Returns the error for a path that has only these methods. */
export function methodNotAllowed(methods: readonly string[]): ApiException {
  return new ApiException(apiErrors.methodNotAllowed, { headers: { Allow: methods.toSorted().join(', ') } });
}

/**
 * Sends an Error object. Before the body of the request has arrived, discards the rest of it, up to a limit, and then
 * closes the connection, because closing it at once could reset it before the client reads the response (RFC 9112 §9.6).
 * Resolves when the response is written, before the rest of the body has arrived.
 */
export async function sendError(res: ServerResponse, exception: ApiException): Promise<void> {
  if (res.headersSent) return;
  const { headers, body } = toResponse(exception);
  res.statusCode = exception.status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (res.req.complete || !(await closeIfIncomplete(res))) {
    res.end(body);
    return;
  }
  // A response to HEAD has no body that would send the headers.
  res.flushHeaders();
  res.write(body);
  discardBody(res.req).then(() => res.end());
}

/** Lets a response that precedes the body of its request close the connection. Returns whether it does. */
export async function closeIfIncomplete(res: ServerResponse): Promise<boolean> {
  // A body in the same packet as its headers is complete one turn later.
  await nextTurn();
  if (!res.req.complete && !res.headersSent) res.setHeader('Connection', 'close');
  return !res.req.complete;
}

/** Sends an Error object where Node has no request to respond to, and closes the connection. Returns the request id. */
export function sendErrorTo(socket: Socket, exception: ApiException): string {
  const requestId = randomUUID();
  const { headers, body } = toResponse(exception);
  const allHeaders = { 'X-Request-Id': requestId, Date: new Date().toUTCString(), ...headers, Connection: 'close' };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${exception.status} ${STATUS_CODES[exception.status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  return requestId;
}

function toResponse({ apiError, headers }: ApiException) {
  const body = JSON.stringify(apiError);
  return {
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
    body,
  };
}

function discardBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let discardedBytes = 0;
    const timer = setTimeout(resolve, LINGER_MS).unref();
    req.on('data', (chunk: Buffer) => {
      timer.refresh();
      discardedBytes += chunk.length;
      if (discardedBytes > MAX_DISCARDED_BYTES) resolve();
    });
    req.once('close', resolve).resume();
  });
}
