/**
 * Base class of the errors that adapters throw. Distinguish them by class or `code`, never by message. Messages contain
 * no plant values, SQL or driver text.
 */
export abstract class PlantStoreError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The storage is unavailable, full or closed. Plants of the failed call may have been stored; retry to find out. */
export class StorageUnavailable extends PlantStoreError {
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** The storage rejects this plant and would reject it again. Other plants of the batch are not affected. */
export class PlantRejected extends PlantStoreError {
  readonly code = 'PLANT_REJECTED';
}

/** The token cannot be checked because its issuer is unavailable. */
export class TokenIssuerUnavailable extends PlantStoreError {
  readonly code = 'TOKEN_ISSUER_UNAVAILABLE';
}
