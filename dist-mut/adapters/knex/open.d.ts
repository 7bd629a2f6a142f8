import { type Knex } from 'knex';
import type { Engine } from './engine.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
/** A database, and how long it is waited for. `sqliteDatabase`, `postgresDatabase` and `mysqlDatabase` make one. */
export interface Database {
    readonly engine: Engine;
    /** What to call it in a sentence, without a password. */
    readonly name: string;
    readonly config: Knex.Config;
    /** How long a statement, and a wait for a connection, may take, in milliseconds. */
    readonly timeoutMs: number;
    /** Told of the settings with which the engine acknowledges a write before it is synced. */
    readonly warn?: ((warning: string) => void) | undefined;
    /** Where it is a file: whether there is none yet, and making it. */
    readonly file?: {
        isMissing(): boolean;
        create(): void;
    };
}
/** Where a database server is, and how long to wait for it. */
export interface ServerOptions extends Pick<Database, 'timeoutMs' | 'warn'> {
    readonly url: string;
}
/**
 * A number in a URL's parameters.
 *
 * @throws {StorageUnavailable} where it is none, or not above 0
 */
export declare function parameterOf(url: URL, name: string, byDefault: number): number;
/** What of a URL may be shown. */
export declare function withoutSecrets(url: string): string;
/**
 * Opens a database and brings its schema up to date.
 *
 * @throws {StorageUnavailable} with a sentence that says why it cannot be opened
 */
export declare function openRepository(database: Database): Promise<KnexPlantRepository>;
/**
 * Says what {@link openRepository} would do to the schema, and does nothing.
 *
 * @returns the names of the migrations that are still to come
 * @throws {StorageUnavailable} with a sentence that says why the database cannot be opened
 */
export declare function pendingMigrations(database: Database): Promise<readonly string[]>;
//# sourceMappingURL=open.d.ts.map