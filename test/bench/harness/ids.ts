const HALF = 2 ** 26;

/**
 * A number below 2⁵² for each number below 2⁵², different for different ones and without order: a Feistel network. The
 * load generator's script has the same.
 */
export function scattered(number: number): number {
  let left = Math.floor(number / HALF);
  let right = number % HALF;
  for (const factor of [40_503_001, 59_654_323, 48_271_397, 62_089_911]) {
    [left, right] = [right, (left + Math.floor((right * factor) / 8192)) % HALF];
  }
  return left * HALF + right;
}

/** How the ids of a load follow one another. */
export type IdOrder = 'ascending' | 'scattered';

/** More ids than any load uses. */
const IDS_PER_LOAD = 1e9;
let loads = 0;

/** The first id of a load; no two loads meet. The plants of a store that was filled before have ids below it. */
export function firstIdOfLoad(): number {
  return ++loads * IDS_PER_LOAD;
}
