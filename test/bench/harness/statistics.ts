/** Returns the middle value, or the mean of the two middle values; throws without samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no samples');
  return (lower + upper) / 2;
}

/** Divides each sample by the other sample of the same round. */
export function ratios(samples: readonly number[], others: readonly number[]): number[] {
  if (samples.length !== others.length) throw new RangeError('rounds are missing');
  return samples.map((sample, round) => sample / (others[round] ?? Number.NaN));
}

/** Fits `y = intercept + slope · x` by least squares of relative errors, so that small values have weight. */
export function linearFit(points: readonly (readonly [x: number, y: number])[]): { intercept: number; slope: number } {
  const sum = (term: (x: number, y: number) => number) =>
    points.reduce((total, [x, y]) => total + term(x, y) / (y * y), 0);
  const weights = sum(() => 1);
  const meanX = sum((x) => x) / weights;
  const meanY = sum((_, y) => y) / weights;
  const slope = sum((x, y) => (x - meanX) * (y - meanY)) / sum((x) => (x - meanX) ** 2);
  return { intercept: meanY - slope * meanX, slope };
}
