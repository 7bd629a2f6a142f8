import type { Engine } from './engine.js';
import type { Database } from './open.js';
/**
 * SQLite. Values travel as JSON in one bound text, so that the statement is the same for one plant and for a thousand.
 * Ids travel as decimal text: the driver binds a bigint as NULL and a large number as a double.
 */
export declare const sqlite: Engine;
/** Where the database is, and how long to wait for it. */
export interface SqliteOptions {
    /** The file; it and its folder are created where they are missing, for their owner alone. */
    readonly path: string;
    /** How long a statement waits for its turn, in milliseconds: for other statements here, and for other processes. */
    readonly timeoutMs: number;
}
/** A SQLite file. */
export declare function sqliteDatabase({ path: given, timeoutMs }: SqliteOptions): Database;
//# sourceMappingURL=sqlite.d.ts.map