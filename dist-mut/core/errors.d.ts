/**
 * What is broken, as against what is expected (which is a value). Adapters throw these; whoever catches one tells them
 * apart by class or by `code`, never by message. The messages hold no value of a plant, no SQL and no text of a driver.
 */
export declare abstract class PlantStoreError extends Error {
    abstract readonly code: string;
    constructor(message: string, options?: {
        cause?: unknown;
    });
}
/**
 * The storage does not answer, is full, or was closed. Whether the plants of the failed call were stored may be open;
 * adding the very same plants again finds out.
 */
export declare class StorageUnavailable extends PlantStoreError {
    readonly code = "STORAGE_UNAVAILABLE";
}
/** The storage refuses this one plant and would refuse it again; plants added beside it are not touched. */
export declare class PlantRefused extends PlantStoreError {
    readonly code = "PLANT_REFUSED";
}
/** Whether the token is valid cannot be told now, because its issuer does not answer. */
export declare class TokenIssuerUnavailable extends PlantStoreError {
    readonly code = "TOKEN_ISSUER_UNAVAILABLE";
}
//# sourceMappingURL=errors.d.ts.map