const HALF = 2 ** 26;

/**
 * Permutes the numbers below 2⁵² pseudo-randomly with a Feistel network. The script of the load generator contains the
 * same function.
 */
export function scattered(number: number): number {
  let left = Math.floor(number / HALF);
  let right = number % HALF;
  for (const factor of [40_503_001, 59_654_323, 48_271_397, 62_089_911]) {
    [left, right] = [right, (left + Math.floor((right * factor) / 8192)) % HALF];
  }
  return left * HALF + right;
}

/** Order of the ids of a load. */
export type IdOrder = 'ascending' | 'scattered';

/** More ids than any load uses. */
const IDS_PER_LOAD = 1e9;
let loads = 0;

/** Returns the first id of a new load. Loads do not overlap each other or the plants of a prefilled store. */
export function firstIdOfLoad(): number {
  return ++loads * IDS_PER_LOAD;
}
