import { setTimeout } from 'node:timers/promises';
import { isStorageUnavailable, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';

/** Pause before a retry, in milliseconds. */
const RETRY_PAUSE_MS = 10;

/** The error of a driver. Its message may quote values, and Knex adds the SQL. */
interface DriverError extends Error {
  readonly code?: string;
  /** The number of the error in SQLite and MySQL. */
  readonly errno?: number;
  readonly sqlState?: string;
}

export function isDriverError(error: unknown): error is DriverError {
  return error instanceof Error;
}

/** Returns the code of a driver, system or Knex error. */
export function toCode(error: unknown): string {
  return isDriverError(error) ? (error.code ?? error.name) : typeof error;
}

/** Converts the failure of a call. Its cause has the driver's codes. */
export function toFailure(error: unknown): StorageUnavailable {
  if (isStorageUnavailable(error)) return error;
  const cause = isDriverError(error) ? { code: error.code, errno: error.errno, sqlState: error.sqlState } : {};
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
