import { randomInt } from 'node:crypto';
import { afterEach } from 'mocha';

/** Returns a pseudo-random number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/**
 * Creates a random number generator for the surrounding suite. A failing test prints its seed; set `SEED` to repeat the
 * numbers. Call it inside `describe`.
 */
export function randomNumbers(): Random {
  const seed = Number(process.env['SEED'] ?? randomInt(2 ** 32));
  afterEach(function () {
    if (this.currentTest?.state === 'failed') process.stderr.write(`      SEED=${seed}\n`);
  });
  let state = seed;
  // Mulberry32, by Tommy Ettinger, in the public domain.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
