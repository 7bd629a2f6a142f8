import { isStorageUnavailable, StorageUnavailable } from '@plant-store/core';

/** Knex or the driver of a database is not installed. The message says what to do. */
export class MissingDriver extends Error {
  override readonly name = 'MissingDriver';
}

/** Codes for errors of Knex, pg and mysql2 that have none, by their messages, after the SQL that Knex adds. */
const CODES: readonly (readonly [message: RegExp, code: string])[] = [
  [/^Knex: Timeout|^timeout expired$/, 'ETIMEDOUT'],
  [/(Connection terminated( unexpectedly)?|is not queryable|in closed state)$/, 'ECONNRESET'],
  [/SSL connections?$/, 'ERR_SSL'],
  [/^SASL: /, '28P01'],
  [/^Transaction query already complete/, 'TRANSACTION_ENDED'],
];

/** How a driver identifies an error. Its message may quote values, and Knex adds the SQL. */
interface DriverCodes {
  /** A name or an SQLSTATE, or else the number or the class of the error. */
  readonly code: string;
  /** The number of the error in SQLite and MySQL. */
  readonly errno?: number | undefined;
  readonly sqlState?: string | undefined;
}

/** Returns the codes of an error. */
export function toCodes(error: unknown): DriverCodes {
  if (!(error instanceof Error)) return { code: typeof error };
  const { code, errno, sqlState }: Error & Partial<DriverCodes> = error;
  // A Unix socket does not exist while its server is down. A missing certificate file has this code, too.
  if (error.message.startsWith('connect ENOENT')) return { code: 'ECONNREFUSED' };
  if (code !== undefined) return { code, errno, sqlState };
  const [, substitute] = CODES.find(([message]) => message.test(error.message)) ?? [];
  // mysql2 names only some numbers of MariaDB.
  return { code: substitute ?? errno?.toString() ?? error.name, errno, sqlState };
}

/** Converts the error of a query, also of your own. Converts every error, and drops its message. */
export function toStorageUnavailable(error: unknown): StorageUnavailable {
  if (isStorageUnavailable(error)) return error;
  const cause = toCodes(error);
  // PostgreSQL rejects every statement after one of the caller's that failed.
  const reason = cause.code === '25P02' ? 'an earlier statement failed; roll back' : 'the storage is unavailable';
  return new StorageUnavailable(`${reason} (${cause.code})`, { cause });
}

/** Returns the first line of an error message, without the SQL that Knex puts before it. */
export function toMessage(error: unknown): string {
  if (isStorageUnavailable(error)) return error.message;
  const { code } = toCodes(error);
  if (code === 'ETIMEDOUT') return 'the server does not respond';
  if (!(error instanceof Error)) return code;
  // A failed system call has no SQL, but perhaps a path.
  const message = 'syscall' in error ? error.message : error.message.replace(/^.* - /s, '');
  return message.split('\n', 1)[0] || code;
}
