/** Returns the `fraction` quantile of `values`, such as 0.99 for the 99th percentile; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
}
