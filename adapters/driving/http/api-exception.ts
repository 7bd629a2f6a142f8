import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ApiError, apiErrors, failureToApiError, toStatus } from '../api/index.js';

/** Headers by error number. `Retry-After` is in seconds (RFC 9110 §10.2.3). */
const headersOfErrors = new Map<number, Readonly<Record<string, string>>>([
  [apiErrors.noCredential.error, { 'WWW-Authenticate': 'Bearer realm="plant-store"' }],
  [apiErrors.invalidToken.error, { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' }],
  [apiErrors.storageUnavailable.error, { 'Retry-After': '5' }],
  [apiErrors.overloaded.error, { 'Retry-After': '1' }],
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
  const Allow = [...new Set(methods)].sort().join(', ');
  return new ApiException(apiErrors.methodNotAllowed, { headers: { Allow } });
}

/** Sends an Error object, possibly before the body of the request has arrived. */
export function sendError(res: ServerResponse, exception: ApiException): void {
  if (res.headersSent) return;
  const { headers, body } = toResponse(exception);
  res.writeHead(exception.status, headers).end(body);
  // Node by itself discards only a body that was not read at all.
  res.req.resume();
}

/** Sends an Error object where Node has no response to send it with. */
export function sendErrorTo(socket: Duplex, exception: ApiException, requestId: string): void {
  const { headers, body } = toResponse(exception);
  const allHeaders = { 'X-Request-Id': requestId, Date: new Date().toUTCString(), ...headers, Connection: 'close' };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${exception.status} ${STATUS_CODES[exception.status]}\r\n${lines.join('')}\r\n${body}`);
}

function toResponse({ apiError, headers }: ApiException) {
  const body = JSON.stringify(apiError);
  return {
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
    body,
  };
}
