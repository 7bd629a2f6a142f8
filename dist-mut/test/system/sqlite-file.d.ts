import type { TestPlant } from './client.js';
/** A second connection to the file of a service, from outside of it. */
export declare class SqliteFile {
    #private;
    private constructor();
    static open(path: string): Promise<SqliteFile>;
    exec(sql: string): Promise<void>;
    close(): Promise<void>;
    /** What SQLite's own check of the whole file finds (https://sqlite.org/pragma.html#pragma_integrity_check). */
    damages(): Promise<string[]>;
    /** Every plant, ascending by id. */
    plants(): Promise<TestPlant[]>;
}
/** The plants that a file holds, ascending by id. */
export declare function plantsIn(path: string): Promise<TestPlant[]>;
//# sourceMappingURL=sqlite-file.d.ts.map