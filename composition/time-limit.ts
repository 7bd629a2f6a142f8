import { InvalidConfig } from './config.js';

/** Rejects with an {@link InvalidConfig} if `work` does not settle in time. */
export async function limitTime<T>(work: Promise<T>, maxMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new InvalidConfig(`not done within ${maxMs / 1000} seconds`)), maxMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
