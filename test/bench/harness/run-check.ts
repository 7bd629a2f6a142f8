import { sum } from './statistics.js';

/** Counts of a load generator. */
export interface LoadCounts {
  /** Responses received, with any status. */
  readonly responses: number;
  /** Responses whose status is not 2xx. */
  readonly failures: number;
  /** Connections that failed or broke, and requests that timed out. */
  readonly broken: number;
  readonly connections: number;
}

/**
 * Throws if the figures of a run are not valid.
 *
 * Every acknowledged plant must be stored. Rows without a response are allowed only for requests that were in flight
 * when their load ended: one per connection of each load.
 *
 * @param whole loads that ran to their end
 * @param killed load during which the program was killed
 * @param rows rows that the loads added; `undefined` for programs that store nothing durably
 */
export function checkRun(whole: readonly LoadCounts[], killed: LoadCounts, rows: number | undefined): void {
  const loads = [...whole, killed];
  const responses = sum(loads, (load) => load.responses);
  const inFlight = sum(loads, (load) => load.connections);
  const failures = sum(loads, (load) => load.failures);
  const broken = sum(whole, (load) => load.broken);
  if (failures !== 0) throw new Error(`${failures} responses were not 2xx`);
  if (broken !== 0) throw new Error(`${broken} connections broke or requests timed out`);
  if (whole.some((load) => load.responses === 0)) throw new Error('a load got no response');
  if (rows === undefined) return;
  if (rows < responses) throw new Error(`${responses - rows} of ${responses} acknowledged plants are missing`);
  if (rows > responses + inFlight)
    throw new Error(`${rows} rows exceed ${responses} responses and ${inFlight} requests in flight`);
}
