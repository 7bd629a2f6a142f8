import type { Knex } from 'knex';
import { type DatabaseServer } from '../support/database-servers.js';
import type { TestPlant } from './client.js';
/** A database of a service, looked at from outside of it. */
export interface TestStore {
    /** Its `DATABASE_URL`. */
    readonly url: string;
    /** Every plant, ascending by id. */
    plants(): Promise<TestPlant[]>;
    /** What the engine's own check of its integrity finds. */
    damages(): Promise<readonly string[]>;
    /** Has the engine refuse plants that are named poison. */
    poison(): Promise<void>;
}
/** An engine that tests run on. */
export interface TestEngine {
    readonly name: string;
    /** Makes new stores for the surrounding suite, which are gone at its end. Call it inside `describe`. */
    stores(): {
        create(): Promise<TestStore>;
    };
}
export declare const sqliteEngine: TestEngine;
export declare const postgresEngine: TestEngine;
export declare const mariadbEngine: TestEngine;
/** A store in a SQLite file. */
export declare function sqliteStore(path: string): TestStore;
/** A store in a database of a server, looked at through `knex`. */
export declare function serverStore(url: string, client: DatabaseServer['client'], knex: Knex): TestStore;
//# sourceMappingURL=stores.d.ts.map