/**
 * What may be told of an error that came through Knex: its code and where it happened. Its message may not, because Knex
 * puts the SQL with all values before it, and drivers quote values themselves.
 */
export class StorageFailure extends Error {
  override readonly name = 'StorageFailure';
  /** The driver's code, such as `SQLITE_FULL`. */
  readonly code: string;

  constructor(error: unknown) {
    const code = codeOf(error);
    super(`the storage reported ${code}`);
    this.code = code;
    const frames = error instanceof Error ? error.stack?.match(/^ {4}at .*$/gm) : undefined;
    if (frames) this.stack = [`${this.name}: ${this.message}`, ...frames].join('\n');
  }
}

/** The code of an error of a driver, of the operating system or of Knex itself. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
