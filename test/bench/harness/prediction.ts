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
 * Answers a second of a closed loop with group commit. One write is under way at a time, and what arrives meanwhile goes
 * into the next one. So any two writes that follow each other serve all connections once: each has half of them on
 * average. Where the processor needs longer for an answer than the write does for a plant, it sets the rate.
 */
export function predictedRate({ cpuMs, batchMs, syncDelayMs, connections }: Costs): number {
  const rows = Math.max(1, connections / 2);
  const writeMs = batchMs.intercept + batchMs.slope * rows + syncDelayMs;
  return 1000 / Math.max(cpuMs, writeMs / rows);
}
