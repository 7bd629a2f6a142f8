/**
 * The storage is unavailable, full or closed. Plants of the failed call may be stored; retry to find out. The message
 * contains no plant values and no SQL.
 */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** The token cannot be checked now, because its issuer is unavailable or its key may be newer than those that were fetched. */
export class TokenIssuerUnavailable extends Error {
  override readonly name = 'TokenIssuerUnavailable';
  readonly code = 'TOKEN_ISSUER_UNAVAILABLE';
}

/** Recognises the errors of any copy of the core, unlike `instanceof`. */
export function isStorageUnavailable(error: unknown): error is StorageUnavailable {
  return error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE';
}

/** Recognises the errors of any copy of the core, unlike `instanceof`. */
export function isTokenIssuerUnavailable(error: unknown): error is TokenIssuerUnavailable {
  return error instanceof Error && 'code' in error && error.code === 'TOKEN_ISSUER_UNAVAILABLE';
}
