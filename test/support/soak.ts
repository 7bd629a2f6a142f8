/** Whether this is a soak test run (`npm run soak`). */
export const isSoak: boolean = process.env['SOAK'] === '1';

/** Returns `inTests` in an ordinary test run, `inSoak` in a soak test run. */
export function testOrSoak<T>(inTests: T, inSoak: T): T {
  return isSoak ? inSoak : inTests;
}
