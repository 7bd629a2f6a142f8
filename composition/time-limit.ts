import timers from 'node:timers/promises';

/** Returns whether `work` resolves in time. Rejects if it rejects in time. */
export async function isInTime(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = timers.setTimeout(timeoutMs, false, { signal: timer.signal });
  return Promise.race([work.then(() => true), late]).finally(() => timer.abort());
}
