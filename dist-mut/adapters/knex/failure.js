/**
 * What may be told of an error that came through Knex: its code. Its message may not, because Knex puts the SQL with all
 * values before it, and drivers quote values themselves; nor may its stack, which repeats the message.
 */
export class StorageFailure extends Error {
    name = 'StorageFailure';
    /** The driver's code, such as `SQLITE_FULL`. */
    code;
    constructor(error) {
        const code = codeOf(error);
        super(`the storage reported ${code}`);
        this.code = code;
    }
}
/** The code of an error of a driver, of the operating system or of Knex itself. */
export function codeOf(error) {
    if (!(error instanceof Error))
        return 'an unknown error';
    return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
//# sourceMappingURL=failure.js.map