import type { Knex } from 'knex';
import type { Engine } from './engine.js';
/** The names of all migrations, in their order. */
export declare function migrationNames(engine: Engine): readonly string[];
/**
 * Brings the schema up to date. All of it happens in one transaction under a lock of the engine: instances that start
 * together wait for one another, and one that is killed in the middle leaves nothing behind that stops them.
 *
 * @throws {StorageUnavailable} when the schema is newer than this version of the package
 */
export declare function migrate(knex: Knex, engine: Engine): Promise<void>;
/**
 * The names of the migrations that are still to come.
 *
 * @throws {StorageUnavailable} when the schema is newer than this version of the package
 */
export declare function pendingOf(knex: Knex, engine: Engine): Promise<readonly string[]>;
//# sourceMappingURL=migrations.d.ts.map