import { setTimeout } from 'node:timers/promises';
import type { Dialect } from './dialect.js';

/** Pause before a retry, in milliseconds. */
const PAUSE_MS = 10;

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(dialect: Dialect, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (dialect.classify(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}
