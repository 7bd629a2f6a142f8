/**
 * What may be told of an error that came through Knex: its code. Its message may not, because Knex puts the SQL with all
 * values before it, and drivers quote values themselves; nor may its stack, which repeats the message.
 */
export declare class StorageFailure extends Error {
    readonly name = "StorageFailure";
    /** The driver's code, such as `SQLITE_FULL`. */
    readonly code: string;
    constructor(error: unknown);
}
/** The code of an error of a driver, of the operating system or of Knex itself. */
export declare function codeOf(error: unknown): string;
//# sourceMappingURL=failure.d.ts.map