import { setTimeout } from 'node:timers/promises';
import { isStorageUnavailable, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';

/** Pause before a retry, in milliseconds. */
const RETRY_PAUSE_MS = 10;

/** How drivers identify an error. Its message is not used, because it may quote values, and Knex adds the SQL. */
export interface DriverCodes {
  readonly code?: string | undefined;
  /** The number of the error in SQLite and MySQL. */
  readonly errno?: number | undefined;
  readonly sqlState?: string | undefined;
  /** The number of the error in `node:sqlite`. */
  readonly errcode?: number | undefined;
}

/** Returns the codes that a driver gave an error. */
export function toCodes(error: unknown): DriverCodes {
  return isDriverError(error) ? error : {};
}

function isDriverError(error: unknown): error is Error & DriverCodes {
  return error instanceof Error;
}

/** Returns the code of a driver, system or Knex error, as text for people. */
export function toCode(error: unknown): string {
  const { code, errcode } = toCodes(error);
  if (errcode !== undefined) return `${code} ${errcode}`;
  return code ?? (error instanceof Error ? error.name : typeof error);
}

/** Converts the failure of a call. Its cause has the driver's codes. */
export function toFailure(error: unknown): StorageUnavailable {
  if (isStorageUnavailable(error)) return error;
  const { code, errno, sqlState, errcode } = toCodes(error);
  const cause: DriverCodes = { code, errno, sqlState, errcode };
  return new StorageUnavailable(`the storage is unavailable (${toCode(error)})`, { cause });
}

/** Returns the first line of an error message, without the SQL that Knex puts before it. */
export function toReason(error: unknown): string {
  if (isStorageUnavailable(error)) return error.message;
  if (toCode(error) === 'KnexTimeoutError') return 'the server does not respond';
  const message = error instanceof Error ? error.message.replace(/^.* - /s, '') : '';
  return message.split('\n', 1)[0] || toCode(error);
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(dialect: Dialect, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (dialect.classify(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(RETRY_PAUSE_MS);
    }
  }
}
