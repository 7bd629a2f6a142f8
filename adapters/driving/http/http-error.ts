import { type ApiError, apiErrors, failureToApiError, statusOf } from '../api/index.js';

/** Headers by error number. `Retry-After` is in seconds (RFC 9110 §10.2.3). */
const headersOfErrors = new Map<number, Readonly<Record<string, string>>>([
  // It is not certain where the next request begins.
  [apiErrors.malformedHttp.error, { Connection: 'close' }],
  [apiErrors.headersTooLarge.error, { Connection: 'close' }],
  [apiErrors.noCredential.error, { 'WWW-Authenticate': 'Bearer realm="plant-store"' }],
  [apiErrors.invalidToken.error, { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' }],
  [apiErrors.storageUnavailable.error, { 'Retry-After': '5' }],
  [apiErrors.overloaded.error, { 'Retry-After': '1' }],
  [apiErrors.shuttingDown.error, { 'Retry-After': '5' }],
  [apiErrors.issuerUnavailable.error, { 'Retry-After': '5' }],
]);

/** Thrown to end a request with an {@link ApiError}. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly apiError: ApiError;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(apiError: ApiError, options: ErrorOptions & Partial<Pick<HttpError, 'headers'>> = {}) {
    super(apiError.message, options);
    this.apiError = apiError;
    this.status = statusOf(apiError);
    this.headers = options.headers ?? headersOfErrors.get(apiError.error) ?? {};
  }
}

/** Converts any error to one that is safe to send. Only `cause` has the original message. */
export function toHttpError(error: unknown): HttpError {
  return error instanceof HttpError ? error : new HttpError(failureToApiError(error), { cause: error });
}

/** Returns the error for a path that has only these methods. */
export function methodNotAllowed(methods: readonly string[]): HttpError {
  return new HttpError(apiErrors.methodNotAllowed, { headers: { Allow: methods.join(', ') } });
}
