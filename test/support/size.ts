/** Whether tests take the time that they like: `npm run soak`. */
export const isSoak: boolean = process.env['SOAK'] === '1';

/** How long, often or much: `inTests` as a part of all tests, `inSoak` where nobody waits. */
export function sized<T>(inTests: T, inSoak: T): T {
  return isSoak ? inSoak : inTests;
}
