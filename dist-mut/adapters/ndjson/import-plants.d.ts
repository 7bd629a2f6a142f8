import type { CreatePlant } from '../../core/index.js';
import { type PlantCodec, type Rejection } from '../wire/index.js';
/** What an import is made of. */
export interface ImportOptions {
    readonly createPlant: CreatePlant;
    readonly codec: PlantCodec;
    /** The longest line, in bytes. */
    readonly lineBytesMax: number;
    /** Told of each line that is refused. */
    readonly onReject: (reject: Reject) => void | Promise<void>;
    /** Told after each batch. */
    readonly onProgress?: (summary: ImportSummary) => void;
    /** Ends the import after the batch that is under way. */
    readonly signal?: AbortSignal;
}
/** A line that was refused, and why. */
export interface Reject extends Rejection {
    readonly line: number;
}
/** How many lines there were of each kind so far. */
export interface ImportSummary {
    /** Plants that are stored now and were not before. */
    created: number;
    /** Plants that were stored already, identically. */
    alreadyStored: number;
    refused: number;
    /** The bytes that were read. */
    bytes: number;
}
/**
 * Reads NDJSON of NewPlant objects and creates them. A line is read as the body of a request is; a refused one is
 * reported and skipped. An import that was interrupted is simply run again.
 *
 * @throws {StorageUnavailable} when the storage goes away; what was created before stays
 */
export declare function importPlants(input: AsyncIterable<Uint8Array>, { createPlant, codec, lineBytesMax, onReject, onProgress, signal }: ImportOptions): Promise<ImportSummary>;
//# sourceMappingURL=import-plants.d.ts.map