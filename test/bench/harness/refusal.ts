/** What a load generator saw. */
export interface Seen {
  /** Answers that came, whatever their status. */
  readonly answers: number;
  /** Those whose status is not a success. */
  readonly failures: number;
  /** Connections that broke or never came about, and requests that timed out. */
  readonly broken: number;
  readonly connections: number;
}

/**
 * Why a run may not be told as a figure; `undefined` where it may.
 *
 * Every answered plant has to be a row. A row may be there unanswered only where its request was under way when its load
 * ended: one for each connection of each load.
 *
 * @param whole the loads that ran to their end
 * @param killed the load under which the program was killed
 * @param rows how many the store held afterwards; `undefined` for programs that store nothing durably
 */
export function refusalOf(whole: readonly Seen[], killed: Seen, rows: number | undefined): string | undefined {
  const loads = [...whole, killed];
  const failures = sum(loads, (load) => load.failures);
  if (failures > 0) return `${failures} answers were no success`;
  const broken = sum(whole, (load) => load.broken);
  if (broken > 0) return `${broken} connections broke or requests timed out`;
  const answers = sum(loads, (load) => load.answers);
  if (whole.some((load) => load.answers === 0)) return 'a load got no answer';
  if (rows === undefined) return undefined;
  if (rows < answers) return `${answers - rows} of ${answers} answered plants are missing`;
  const underWay = sum(loads, (load) => load.connections);
  if (rows > answers + underWay) return `${rows} rows are more than ${answers} answers and ${underWay} under way`;
  return undefined;
}

function sum(loads: readonly Seen[], term: (load: Seen) => number): number {
  return loads.reduce((total, load) => total + term(load), 0);
}
