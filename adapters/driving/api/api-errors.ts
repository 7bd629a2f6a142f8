import type { CreatePlantOutcome, Violation } from '@plant-store/core';
import { isStorageUnavailable, isTokenIssuerUnavailable, MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/core';

/** An error of the HTTP API. Number and message are its Error object. */
export interface ApiError {
  /** HTTP status × 100 + an ordinal. Never reassigned. */
  readonly error: number;
  /** One human-readable sentence. Never contains a stack, SQL, a path, a token or driver text. */
  readonly message: string;
  /** Headers of the response. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const REALM = { 'WWW-Authenticate': 'Bearer realm="plant-store"' };
const INVALID_TOKEN = { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' };
/** RFC 9110 §10.2.3. */
const retryAfter = (seconds: number) => ({ 'Retry-After': `${seconds}` });

/** Every error of the HTTP API, with its default message. */
export const apiErrors = {
  malformedHttp: { error: 40000, message: 'The request is not well-formed HTTP/1.1' },
  notJson: { error: 40001, message: 'The body must be one JSON text in UTF-8' },
  notANewPlant: { error: 40002, message: 'The body must be a NewPlant' },
  unstorableText: { error: 40003, message: 'A string must not contain U+0000 or a lone surrogate' },
  noCredential: { error: 40101, message: 'The request needs the header Authorization: Bearer <token>', headers: REALM },
  invalidToken: { error: 40102, message: 'The token is not valid', headers: INVALID_TOKEN },
  noSuchPath: { error: 40401, message: 'No such path' },
  methodNotAllowed: { error: 40501, message: 'The method is not allowed for this path; see the header Allow' },
  requestTimeout: { error: 40801, message: 'The request did not arrive in time' },
  idConflict: { error: 40901, message: 'id belongs to a different plant' },
  alreadyStored: { error: 40902, message: 'This exact plant is already stored; no further retry is needed' },
  bodyTooLarge: { error: 41301, message: 'The body is too large' },
  unsupportedMediaType: { error: 41501, message: 'Content-Type must be application/json' },
  // RFC 9110 §12.5.3
  unsupportedEncoding: {
    error: 41501,
    message: 'Content-Encoding must be identity or absent',
    headers: { 'Accept-Encoding': 'identity' },
  },
  unknownExpectation: { error: 41701, message: 'Expect must be 100-continue or absent' },
  headersTooLarge: { error: 43101, message: 'The request headers are too large' },
  internalError: { error: 50001, message: 'Internal error; search the service log for the X-Request-Id' },
  plantRejected: { error: 50002, message: 'The storage rejects this plant' },
  storageUnavailable: {
    error: 50301,
    message: 'Storage unavailable; retry to find out whether the plant was stored',
    headers: retryAfter(5),
  },
  overloaded: { error: 50302, message: 'Too many requests in flight; retry later', headers: retryAfter(1) },
  // The cool-down of `JwtVerifier`.
  issuerUnavailable: { error: 50304, message: 'The token cannot be checked now; retry later', headers: retryAfter(30) },
} as const satisfies Record<string, ApiError>;

/** Returns the HTTP status of an error. */
export function toStatus({ error }: ApiError): number {
  return Math.trunc(error / 100);
}

/** A decision of the application, such as a missing permission. */
export interface Declined {
  readonly kind: 'declined';
  /** For example `{ error: 40301, message: 'Only gardeners create plants' }`. Its status is 403. */
  readonly error: ApiError;
}

/** Returns the error for an outcome. */
export function toApiError(outcome: Exclude<CreatePlantOutcome, { kind: 'created' }> | Declined): ApiError {
  switch (outcome.kind) {
    case 'declined':
      return outcome.error;
    case 'already-stored':
      return apiErrors.alreadyStored;
    case 'id-conflict':
      return apiErrors.idConflict;
    case 'rejected':
      return apiErrors.plantRejected;
    case 'invalid': {
      const isUnstorableText = outcome.violations.every(({ rule }) => rule === 'text');
      const apiError = isUnstorableText ? apiErrors.unstorableText : apiErrors.notANewPlant;
      return { ...apiError, message: outcome.violations.map(toSentence).join('; ') };
    }
  }
}

/** What a field must be, by the rule that it breaks. */
const rules = {
  type: 'has the wrong type',
  range: `must be an integer from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`,
  text: 'must not contain U+0000 or a lone surrogate',
} satisfies Record<Violation['rule'], string>;

/** Returns a sentence that names the field, and never contains its value. */
export function toSentence({ field, rule }: Violation): string {
  return `${field} ${rules[rule]}`;
}

/** Returns the error for anything that a use case or a token verifier threw. Its message is safe to send. */
export function failureToApiError(failure: unknown): ApiError {
  if (isStorageUnavailable(failure)) return apiErrors.storageUnavailable;
  if (isTokenIssuerUnavailable(failure)) return apiErrors.issuerUnavailable;
  return apiErrors.internalError;
}
