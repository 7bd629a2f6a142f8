import { type CreatePlantOutcome, isPlantStoreError } from '../../../core/index.js';

/** The Error object of the HTTP API (`Error` in docs/openapi.yaml). */
export interface ApiError {
  /** HTTP status × 100 + an ordinal. Part of the HTTP API; never reassigned. */
  readonly error: number;
  /** One human-readable sentence. Never contains a stack, SQL, a path, a token or driver text. */
  readonly message: string;
}

/** Every error number of the HTTP API, with its default message. */
export const apiErrors = {
  malformedHttp: { error: 40000, message: 'The request is not well-formed HTTP/1.1' },
  notJson: { error: 40001, message: 'The body must be one JSON text in UTF-8' },
  notANewPlant: { error: 40002, message: 'The body must be a NewPlant' },
  unstorableText: { error: 40003, message: 'A string must not contain U+0000 or a lone surrogate' },
  noCredential: { error: 40101, message: 'The request needs the header Authorization: Bearer <token>' },
  invalidToken: { error: 40102, message: 'The token is not valid' },
  noSuchPath: { error: 40401, message: 'No such path' },
  methodNotAllowed: { error: 40501, message: 'The method is not allowed for this path; see the header Allow' },
  requestTimeout: { error: 40801, message: 'The request did not arrive in time' },
  idTaken: { error: 40901, message: 'id belongs to a different plant' },
  alreadyStored: { error: 40902, message: 'This exact plant is already stored; no further retry is needed' },
  bodyTooLarge: { error: 41301, message: 'The body is too large' },
  unsupportedMediaType: { error: 41501, message: 'Content-Type must be application/json' },
  unknownExpectation: { error: 41701, message: 'Expect must be 100-continue or absent' },
  headersTooLarge: { error: 43101, message: 'The request headers are too large' },
  internalError: { error: 50001, message: 'Internal error; search the service log for the X-Request-Id' },
  plantRejected: { error: 50002, message: 'The storage rejects this plant' },
  storageUnavailable: { error: 50301, message: 'Storage unavailable; retry to find out whether the plant was stored' },
  overloaded: { error: 50302, message: 'Too many requests in flight; retry later' },
  // 50303 is reserved: earlier versions sent it.
  issuerUnavailable: { error: 50304, message: 'The token issuer is unavailable; retry later' },
} as const satisfies Record<string, ApiError>;

/** Returns the HTTP status of an error. */
export function toStatus({ error }: ApiError): number {
  return Math.trunc(error / 100);
}

const errorsByOutcome = {
  created: undefined,
  'already-stored': apiErrors.alreadyStored,
  'id-taken': apiErrors.idTaken,
  rejected: apiErrors.plantRejected,
} as const;

/** Returns the error for an outcome, or `undefined` if the plant was created. */
export function toApiError(outcome: Exclude<CreatePlantOutcome, { kind: 'created' }>): ApiError;
export function toApiError(outcome: CreatePlantOutcome): ApiError | undefined;
export function toApiError(outcome: CreatePlantOutcome): ApiError | undefined {
  if (outcome.kind !== 'invalid') return errorsByOutcome[outcome.kind];
  const isUnstorableText = outcome.violations.every(({ rule }) => rule === 'text');
  const apiError = isUnstorableText ? apiErrors.unstorableText : apiErrors.notANewPlant;
  return { ...apiError, message: outcome.violations.map(({ message }) => message).join('; ') };
}

/** Returns the error for anything that a use case or a token verifier threw. Its message is safe to send. */
export function failureToApiError(failure: unknown): ApiError {
  if (isPlantStoreError(failure, 'STORAGE_UNAVAILABLE')) return apiErrors.storageUnavailable;
  if (isPlantStoreError(failure, 'TOKEN_ISSUER_UNAVAILABLE')) return apiErrors.issuerUnavailable;
  return apiErrors.internalError;
}
