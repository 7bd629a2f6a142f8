import type { Knex } from 'knex';
import type { Plant } from '../../core/index.js';
/** A row, with its id as decimal text. */
export interface PlantRow {
    readonly id: string;
    readonly name: string;
    readonly tag: string | null;
}
/** All that differs between SQL engines. One small file implements it for each. */
export interface Engine {
    /** The package that Knex needs to talk to it. */
    readonly driver: string;
    /** How many batches do best side by side; measured, see docs/decisions/0012-group-commit.md. */
    readonly writesMax: number;
    /** SQL that turns the column `id` into decimal text: drivers round or retype a BIGINT. */
    readonly idToText: string;
    /** SQL that turns decimal text, bound to its `?`, into an id. */
    readonly textToId: string;
    /**
     * Inserts, durably, those plants whose id is free.
     *
     * @param plants no id twice, ascending by id
     * @returns the others, whose id is taken
     */
    insert(knex: Knex, plants: readonly Plant[]): Promise<readonly Plant[]>;
    /**
     * The first plants with an id of at least `from`, ascending by id: as many as a page may hold, at least one; none where
     * there are no more.
     */
    page(knex: Knex, from: bigint): Promise<readonly PlantRow[]>;
    /**
     * Runs `work` while other starting instances wait, so that one of them migrates; one that is killed meanwhile does not
     * keep them waiting.
     */
    underMigrationLock(transaction: Knex.Transaction, work: () => Promise<void>): Promise<void>;
    /** Creates the table of plants. */
    createTable(transaction: Knex): Promise<void>;
    /** The settings with which the engine acknowledges a write before it is synced, each with its value. */
    unsyncedSettings(knex: Knex): Promise<readonly string[]>;
    /**
     * Looks, after each statement, whether the database is still where others look for it. What is written into a file
     * that was deleted is lost as soon as the process ends.
     *
     * @throws {StorageUnavailable} where it is not
     */
    assertInPlace?(): void;
    /** What a driver's error means. */
    diagnose(error: unknown): Diagnosis;
    /** Why the database cannot be opened, by the codes of errors, to stand at the end of a sentence. */
    readonly reasons: Partial<Record<string, string>>;
}
/**
 * `busy`: others are in the way, try again at once; `unavailable`: try again later; `refused`: a row of the statement is
 * not accepted; `defect`: anything else.
 */
export type Diagnosis = 'busy' | 'unavailable' | 'refused' | 'defect';
//# sourceMappingURL=engine.d.ts.map