/** The storage is unavailable, full or closed. Plants of the failed call may be stored; retry to find out. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** The token cannot be checked because its issuer is unavailable. */
export class TokenIssuerUnavailable extends Error {
  override readonly name = 'TokenIssuerUnavailable';
  readonly code = 'TOKEN_ISSUER_UNAVAILABLE';
}

/** The errors that the core's ports throw. Messages contain no plant values and no SQL. */
export type PlantStoreError = StorageUnavailable | TokenIssuerUnavailable;

/** Tells the errors of this package apart. */
export type PlantStoreErrorCode = PlantStoreError['code'];

const CODES: readonly PlantStoreErrorCode[] = ['STORAGE_UNAVAILABLE', 'TOKEN_ISSUER_UNAVAILABLE'];

/** Returns whether `error` has one of these codes, by default any. `instanceof` fails across copies of the package. */
export function isPlantStoreError(error: unknown, ...codes: readonly PlantStoreErrorCode[]): error is PlantStoreError {
  const accepted = codes.length > 0 ? codes : CODES;
  return error instanceof Error && 'code' in error && accepted.some((code) => code === error.code);
}
