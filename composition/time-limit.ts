import { InvalidConfig } from './config.js';

/** Maximum time to read a file or to run a plugin, in seconds. */
const MAX_SECONDS = 10;

/** Rejects with an {@link InvalidConfig} if `work` does not settle in time. */
export async function limitTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new InvalidConfig(`no result within ${MAX_SECONDS} seconds`)), MAX_SECONDS * 1000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
