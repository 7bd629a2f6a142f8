/** What a rate follows from, all times in milliseconds. */
export interface Costs {
  /** Processor time for each answer. */
  readonly cpuMs: number;
  /** A write of n plants takes `intercept + slope · n`; the intercept holds one sync. */
  readonly batchMs: { readonly intercept: number; readonly slope: number };
  /** How much longer a sync takes than when the batches were measured. */
  readonly syncDelayMs: number;
  readonly connections: number;
}

/**
 * Between which rates a closed loop with group commit runs, in answers a second. One write is under way at a time, and
 * what arrives meanwhile goes into the next one: two writes that follow each other serve all connections once, half of
 * them each on average. At least: the processor rests while a batch is written. At most: it works all the time, or the
 * disk does.
 */
export function predictedRates({ cpuMs, batchMs, syncDelayMs, connections }: Costs): {
  readonly atLeast: number;
  readonly atMost: number;
} {
  const rows = Math.max(1, connections / 2);
  const writeMs = batchMs.intercept + batchMs.slope * rows + syncDelayMs;
  const workMs = cpuMs * rows;
  return { atLeast: (1000 * rows) / (workMs + writeMs), atMost: (1000 * rows) / Math.max(workMs, writeMs) };
}
