import { InvalidConfig } from './config.js';

/** Maximum time to read a file or to run a plugin, in seconds. */
const MAX_SECONDS = 10;

/** Rejects with an {@link InvalidConfig} if `work` does not settle in time. */
export async function limitTime<T>(work: Promise<T>): Promise<T> {
  if (await isInTime(work, MAX_SECONDS * 1000)) return work;
  throw new InvalidConfig(`no result within ${MAX_SECONDS} seconds`);
}

/** Returns whether `work` resolves in time. Rejects if it rejects in time. */
export async function isInTime(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}
