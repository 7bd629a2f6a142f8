/**
 * What is broken, as against what is expected (which is a value). Adapters throw these; whoever catches one tells them
 * apart by class or by `code`, never by message. The messages hold no value of a plant, no SQL and no text of a driver.
 */
export class PlantStoreError extends Error {
    constructor(message, options) {
        super(message, options);
        this.name = new.target.name;
    }
}
/**
 * The storage does not answer, is full, or was closed. Whether the plants of the failed call were stored may be open;
 * adding the very same plants again finds out.
 */
export class StorageUnavailable extends PlantStoreError {
    code = 'STORAGE_UNAVAILABLE';
}
/** The storage refuses this one plant and would refuse it again; plants added beside it are not touched. */
export class PlantRefused extends PlantStoreError {
    code = 'PLANT_REFUSED';
}
/** Whether the token is valid cannot be told now, because its issuer does not answer. */
export class TokenIssuerUnavailable extends PlantStoreError {
    code = 'TOKEN_ISSUER_UNAVAILABLE';
}
//# sourceMappingURL=errors.js.map