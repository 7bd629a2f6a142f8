import type { Context } from 'koa';
import { type ApiError, apiErrors, failureToApiError } from '../api/index.js';

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
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly apiError: ApiError;
  readonly headers: Readonly<Record<string, string>>;

  constructor(apiError: ApiError, options?: ErrorOptions) {
    super(apiError.message, options);
    this.apiError = apiError;
    this.headers = headersOfErrors.get(apiError.error) ?? {};
  }
}

/** Converts any error to one that is safe to send; the text of the original is only in `cause`. */
export function toHttpError(error: unknown): HttpError {
  return error instanceof HttpError ? error : new HttpError(failureToApiError(error), { cause: error });
}

/** Creates middleware that rejects all methods except `allowed`, which earlier routes handle. */
export function rejectMethod(allowed: string): (ctx: Context) => never {
  return (ctx) => {
    ctx.set('Allow', allowed);
    throw new HttpError(apiErrors.methodNotAllowed);
  };
}
