import type { Random } from '../support/random.js';
import type { TestPlant } from './client.js';
/** What runs a program so that {@link lossesInPowerCuts} can read what it did; the program comes behind it. */
export declare function tracing(trace: string): readonly [string, ...string[]];
/** What power cuts did to a SQLite file. */
export interface Losses {
    /** Cuts that were looked at. */
    readonly cuts: number;
    /** Plants that had been answered with 200, and are not there, or not as they were sent. */
    readonly lost: number;
    /** Plants that nobody sent. */
    readonly invented: number;
    /** What SQLite's integrity check finds. */
    readonly damages: readonly string[];
    /** How often the log was carried over into the database before the last cut. */
    readonly checkpoints: number;
}
/**
 * Cuts the power at moments at which an answer began to be sent: has a disk that keeps what was synced by then, and of
 * everything else nothing, or some, or parts, and opens the database that is on it.
 *
 * @param traceFile what {@link tracing} wrote; an answer tells the id of its plant in X-Request-Id
 * @param database the SQLite file, as the program knows it
 * @param folder where the files may be made that a cut leaves
 */
export declare function lossesInPowerCuts(traceFile: string, database: string, plants: ReadonlyMap<bigint, TestPlant>, folder: string, random: Random, cuts: number): Promise<Losses>;
//# sourceMappingURL=power-cut.d.ts.map