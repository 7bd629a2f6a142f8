/** Costs that determine a rate. */
export interface Costs {
  /** Processor time per request. */
  readonly cpuMs: number;
  /** A write of n plants takes `intercept + slope · n`; the intercept includes one sync. */
  readonly batchMs: { readonly intercept: number; readonly slope: number };
  /** Additional time of a sync, compared with the measurement of the batches. */
  readonly syncDelayMs: number;
  readonly connections: number;
}

/**
 * Predicts the lower and upper bound, in requests per second, of the rate of a closed loop with group commit. One write
 * runs at a time, and requests that arrive meanwhile join the next one; so two consecutive writes serve every
 * connection once, half of them each on average. Lower bound: the processor is idle during a write. Upper bound: either
 * the processor or the disk is always busy.
 */
export function predictedRates({ cpuMs, batchMs, syncDelayMs, connections }: Costs) {
  const rows = Math.max(1, connections / 2);
  const writeMs = batchMs.intercept + batchMs.slope * rows + syncDelayMs;
  const workMs = cpuMs * rows;
  return { atLeast: (1000 * rows) / (workMs + writeMs), atMost: (1000 * rows) / Math.max(workMs, writeMs) };
}
