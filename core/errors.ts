/** Tells the errors of this package apart. */
export type PlantStoreErrorCode = 'STORAGE_UNAVAILABLE' | 'TOKEN_ISSUER_UNAVAILABLE' | 'PLANT_REJECTED';

const CODES: readonly PlantStoreErrorCode[] = ['STORAGE_UNAVAILABLE', 'TOKEN_ISSUER_UNAVAILABLE', 'PLANT_REJECTED'];

/** Base class of this package's errors. Messages contain no plant values, SQL or driver text. */
export abstract class PlantStoreError extends Error {
  abstract readonly code: PlantStoreErrorCode;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Thrown: the storage is unavailable, full or closed. Plants of the failed call may be stored; retry to find out. */
export class StorageUnavailable extends PlantStoreError {
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Thrown: the token cannot be checked because its issuer is unavailable. */
export class TokenIssuerUnavailable extends PlantStoreError {
  readonly code = 'TOKEN_ISSUER_UNAVAILABLE';
}

/** The reason in the outcome `rejected`, for logs: the storage rejects this plant and would reject it again. */
export class PlantRejected extends PlantStoreError {
  readonly code = 'PLANT_REJECTED';
}

/**
 * Returns whether `error` is an error of this package with one of these codes, by default with any. Also recognises the
 * errors of another copy of this module, which `instanceof` does not.
 */
export function isPlantStoreError(error: unknown, ...codes: readonly PlantStoreErrorCode[]): error is PlantStoreError {
  const accepted = codes.length > 0 ? codes : CODES;
  return error instanceof Error && 'code' in error && accepted.some((code) => code === error.code);
}
