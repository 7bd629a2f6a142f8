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

/** Fits `y = intercept + slope · x` by least squares of relative errors, so that small values have weight. */
export function linearFit(points: readonly (readonly [x: number, y: number])[]): { intercept: number; slope: number } {
  const weighted = (term: (x: number, y: number) => number) => sum(points, ([x, y]) => term(x, y) / (y * y));
  const weights = weighted(() => 1);
  const meanX = weighted((x) => x) / weights;
  const meanY = weighted((_, y) => y) / weights;
  const slope = weighted((x, y) => (x - meanX) * (y - meanY)) / weighted((x) => (x - meanX) ** 2);
  return { intercept: meanY - slope * meanX, slope };
}
