/** Returns `inTests` in an ordinary test run, `inSoak` in a soak test run (`npm run soak`). */
export function testOrSoak<T>(inTests: T, inSoak: T): T {
  return process.env['SOAK'] === '1' ? inSoak : inTests;
}
