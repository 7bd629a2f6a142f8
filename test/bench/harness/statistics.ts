/** The middle of `samples`; of an even number, the mean of both in the middle. There must be one at least. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no samples');
  return (lower + upper) / 2;
}

/** What each of `samples` is of the one of `others` that was measured in the same round. */
export function ratios(samples: readonly number[], others: readonly number[]): number[] {
  if (samples.length !== others.length) throw new RangeError('rounds are missing');
  return samples.map((sample, round) => sample / (others[round] ?? Number.NaN));
}

/** The line `y = intercept + slope · x` with the least squares of relative errors, so that small values count too. */
export function linearFit(points: readonly (readonly [x: number, y: number])[]): { intercept: number; slope: number } {
  const sum = (term: (x: number, y: number) => number) =>
    points.reduce((total, [x, y]) => total + term(x, y) / (y * y), 0);
  const weights = sum(() => 1);
  const meanX = sum((x) => x) / weights;
  const meanY = sum((_, y) => y) / weights;
  const slope = sum((x, y) => (x - meanX) * (y - meanY)) / sum((x) => (x - meanX) ** 2);
  return { intercept: meanY - slope * meanX, slope };
}
