import { setTimeout } from 'node:timers/promises';
import type { Engine, ErrorClass } from './engine.js';

/** Pause before a retry, in milliseconds. */
const RETRY_PAUSE_MS = 10;

/**
 * An error of Knex or of a driver, reduced to its code. Messages and stacks are dropped: Knex puts the SQL with all
 * values into them, and drivers quote values.
 */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  /** The driver's code, such as `SQLITE_FULL`. */
  readonly code: string;

  constructor(error: unknown) {
    const code = codeOf(error);
    super(`the storage reported ${code}`);
    this.code = code;
  }
}

/** Returns the code of an error of a driver, the operating system or Knex. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

export function classifyError(engine: Engine, error: unknown): ErrorClass {
  if (!(error instanceof Error) || error instanceof TypeError) return 'defect';
  const key = engine.errorKey(error);
  return engine.errorClasses.find(([pattern]) => pattern.test(key))?.[1] ?? 'defect';
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(engine: Engine, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (classifyError(engine, error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(RETRY_PAUSE_MS);
    }
  }
}
