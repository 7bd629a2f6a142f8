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
 * Returns why the figures of a run are invalid, or `undefined` if they are valid.
 *
 * Every acknowledged plant must be stored. Rows without a response are allowed only for requests that were in flight
 * when their load ended: one per connection of each load.
 *
 * @param whole loads that ran to their end
 * @param killed load during which the program was killed
 * @param rows rows in the store afterwards; `undefined` for programs that store nothing durably
 */
export function checkRun(
  whole: readonly LoadCounts[],
  killed: LoadCounts,
  rows: number | undefined,
): string | undefined {
  const loads = [...whole, killed];
  const failures = sum(loads, (load) => load.failures);
  if (failures > 0) return `${failures} responses were not 2xx`;
  const broken = sum(whole, (load) => load.broken);
  if (broken > 0) return `${broken} connections broke or requests timed out`;
  const responses = sum(loads, (load) => load.responses);
  if (whole.some((load) => load.responses === 0)) return 'a load got no response';
  if (rows === undefined) return undefined;
  if (rows < responses) return `${responses - rows} of ${responses} acknowledged plants are missing`;
  const inFlight = sum(loads, (load) => load.connections);
  if (rows > responses + inFlight)
    return `${rows} rows exceed ${responses} responses and ${inFlight} requests in flight`;
  return undefined;
}

function sum(loads: readonly LoadCounts[], term: (load: LoadCounts) => number): number {
  return loads.reduce((total, load) => total + term(load), 0);
}
