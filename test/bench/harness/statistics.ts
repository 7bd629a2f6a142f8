/** Returns the middle value, or the mean of the two middle values; throws without samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no samples');
  return (lower + upper) / 2;
}

/** Adds up a number of each element. */
export function sum<T>(all: readonly T[], term: (one: T) => number): number {
  return all.reduce((total, one) => total + term(one), 0);
}
