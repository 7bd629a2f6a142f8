import { isStorageUnavailable, StorageUnavailable } from '@plant-store/core';

/** Knex or the driver of a database is not installed. The message says what to do. */
export class MissingDriver extends Error {
  override readonly name = 'MissingDriver';
}

/** Codes for errors of Knex, pg and mysql2 that have none, by their messages. Knex puts the SQL before them. */
const CODES: readonly (readonly [message: RegExp, code: string])[] = [
  [/^Knex: Timeout|^timeout expired$/, 'ETIMEDOUT'],
  [/(Connection terminated( unexpectedly)?|is not queryable|in closed state)$/, 'ECONNRESET'],
  [/SSL connections?$/, 'ERR_SSL'],
  [/^SASL: /, '28P01'],
];

/** How a driver identifies an error. Its message may quote values, and Knex adds the SQL. */
interface DriverCodes {
  readonly code?: string | undefined;
  /** The number of the error in SQLite and MySQL. */
  readonly errno?: number | undefined;
  readonly sqlState?: string | undefined;
}

/** Returns the codes that a driver gave an error. */
export function toCodes(error: unknown): DriverCodes {
  if (!(error instanceof Error)) return {};
  // A Unix socket does not exist while its server is down. A missing certificate file has this code, too.
  if (error.message.startsWith('connect ENOENT')) return { code: 'ECONNREFUSED' };
  const { code, errno, sqlState }: Error & DriverCodes = error;
  if (code !== undefined) return { code, errno, sqlState };
  const [, substitute] = CODES.find(([message]) => message.test(error.message)) ?? [];
  // mysql2 names only some numbers of MariaDB.
  return { code: substitute ?? errno?.toString(), errno, sqlState };
}

/** Returns the code of a driver or system error, or the class of another one. */
export function toCode(error: unknown): string {
  return toCodes(error).code ?? (error instanceof Error ? error.name : typeof error);
}

/** Converts the failure of a call. */
export function toStorageUnavailable(error: unknown): StorageUnavailable {
  if (isStorageUnavailable(error)) return error;
  const code = toCode(error);
  // PostgreSQL rejects every statement after one of the caller's that failed.
  const reason = code === '25P02' ? 'an earlier statement failed; roll back' : 'the storage is unavailable';
  return new StorageUnavailable(`${reason} (${code})`, { cause: toCodes(error) });
}

/** Returns the first line of an error message, without the SQL that Knex puts before it. */
export function toMessage(error: unknown): string {
  if (isStorageUnavailable(error)) return error.message;
  if (toCode(error) === 'ETIMEDOUT') return 'the server does not respond';
  if (!(error instanceof Error)) return toCode(error);
  // A failed system call has no SQL, but perhaps a path.
  const message = 'syscall' in error ? error.message : error.message.replace(/^.* - /s, '');
  return message.split('\n', 1)[0] || toCode(error);
}
