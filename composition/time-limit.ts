import timers from 'node:timers/promises';

/** Waits for `work`, and rejects with an error that names the problem if it takes longer. */
export async function limitTime(work: Promise<unknown>, timeoutMs: number, problem: string): Promise<void> {
  const timer = new AbortController();
  const late = timers
    .setTimeout(timeoutMs, undefined, { signal: timer.signal })
    .then(() => Promise.reject(new Error(problem)));
  await Promise.race([work, late]).finally(() => timer.abort());
}
