/** What of a `sqlite3.Database` is used here; Knex runs every statement through `all` or `run`. */
export interface SqliteConnection {
    all(sql: string, bindings: readonly unknown[], done: Done): unknown;
    prepare(sql: string, done: (error: Error | null) => void): SqliteStatement;
    close(done: (error: Error | null) => void): void;
}
interface SqliteStatement {
    all(bindings: readonly unknown[], done: Done): unknown;
    finalize(done?: () => void): unknown;
}
type Done = (error: Error | null, rows?: readonly unknown[]) => void;
/**
 * Has a connection prepare a text that returns rows once, and not at each run: that saves a turn of the driver's thread,
 * which is most of what one plant alone waits for beside the sync.
 */
export declare function keepPrepared(connection: SqliteConnection): void;
export {};
//# sourceMappingURL=prepared.d.ts.map