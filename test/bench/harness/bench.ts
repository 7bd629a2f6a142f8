import type { Ratio, Row, Section, Table } from '../report/document.js';

/** Settings of a benchmark run. */
export interface Settings {
  /** Whether this is a short smoke test, whose figures are not for publication. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Durations of the measured load and of the warm-up before it. */
  readonly loadSeconds: number;
  readonly warmUpSeconds: number;
  /** Folder for stores and logs, removed at the end. */
  readonly folder: string;
  /** Prints progress. */
  say(text: string): void;
}

/** A benchmark, which becomes one section of the document. */
export interface Bench extends Pick<Section, 'title' | 'how'> {
  readonly name: string;
  /** Prepares the comparisons, which are then measured one after another. */
  prepare(settings: Settings): Comparison[] | Promise<Comparison[]>;
}

/** A table, one row per contender. */
export interface Comparison extends Omit<Table, 'rows'> {
  readonly contenders: readonly Contender[];
  readonly ratios?: readonly Target[];
  /** Instead of the rounds of the settings. */
  readonly rounds?: number;
}

/** What is measured, such as a program under a load, and a function that measures it once. */
export type Contender = readonly [name: string, measure: () => Promise<Figures>];

/** Figures by the key of their column. */
export type Figures = Readonly<Record<string, number | undefined>>;

/** A figure of a contender, relative to that of another one, if any. */
export interface Target extends Omit<Ratio, 'samples'> {
  readonly of: string;
  readonly against?: string;
  /** Column of the figure; `rate` by default. */
  readonly key?: string;
}

/** Runs a benchmark. */
export async function run({ name: bench, title, how, prepare }: Bench, settings: Settings): Promise<Section> {
  const tables: Table[] = [];
  const ratios: Ratio[] = [];
  for (const comparison of await prepare(settings)) {
    const { ratios: targets = [], contenders, rounds, ...table } = comparison;
    const rows = await measureInTurn(comparison, settings);
    tables.push({ ...table, rows });
    ratios.push(...targets.map((target) => toRatio(target, rows)));
  }
  return { title, how, tables, ratios, bench, date: new Date().toISOString().slice(0, 10) };
}

/** Measures contenders in turn (A B C A B C …), so that changes on the machine affect all of them. */
async function measureInTurn({ contenders, columns, rounds }: Comparison, settings: Settings): Promise<Row[]> {
  const keys = columns.map(({ key }) => key);
  const measured = new Map(contenders.map(([name]): [string, Figures[]] => [name, []]));
  for (let round = 1; round <= (rounds ?? settings.rounds); round++) {
    for (const [name, measure] of contenders) {
      const figures = await measure();
      measured.get(name)?.push(figures);
      settings.say(`round ${round}: ${name}: ${JSON.stringify(figures, keys)}`);
    }
  }
  return [...measured].map(([name, all]) => {
    const cells = keys.map((key) => [key, all.flatMap((figures) => figures[key] ?? [])]);
    return { name, cells: Object.fromEntries(cells) };
  });
}

/** Divides the figures of two contenders round by round. */
function toRatio({ key = 'rate', of, against, ...target }: Target, rows: readonly Row[]): Ratio {
  const [samples = [], divisors] = [of, against].map((wanted) => rows.find(({ name }) => name === wanted)?.cells[key]);
  return { ...target, samples: samples.map((sample, round) => sample / (divisors ? (divisors[round] ?? NaN) : 1)) };
}
