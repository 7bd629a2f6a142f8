import { type ImportOptions, type ImportSummary, type Reject } from '../../../adapters/ndjson/index.js';
import { PlantCodec } from '../../../adapters/wire/index.js';
import { type PlantRepository } from '../../../core/index.js';
export declare const codec: PlantCodec;
/** What an import did. */
export interface Imported {
    readonly summary: ImportSummary;
    readonly rejects: readonly Reject[];
}
/** Imports a text, or chunks of one, into a repository. */
export declare function importInto(plants: PlantRepository, input: string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>, options?: Partial<ImportOptions>): Promise<Imported>;
/** Everything that a repository holds, as NDJSON. */
export declare function exported(plants: PlantRepository): Promise<string>;
/** The lines of `count` plants, from the id `first` on. */
export declare function plantLines(first: number, count: number): string;
//# sourceMappingURL=support.d.ts.map