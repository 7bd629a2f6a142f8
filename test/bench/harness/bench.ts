/** How large the benches are. */
export interface Settings {
  /** A short run, to see that everything works; its figures are not for publication. */
  readonly quick: boolean;
  /** How often each program is measured, in turn with the others. */
  readonly rounds: number;
  /** How long a load that counts takes, and the one before it that does not, in seconds. */
  readonly loadSeconds: number;
  readonly warmUpSeconds: number;
  /** A folder for stores and logs, which is removed at the end. */
  readonly folder: string;
  /** Tells who watches how far it is. */
  say(text: string): void;
}

/** One thing to measure. */
export interface Bench {
  readonly name: string;
  /** What it measures, in one line. */
  readonly about: string;
  /** What it needs and this machine lacks; the bench is skipped then. */
  missing?(): Promise<string | undefined>;
  run(settings: Settings): Promise<Section>;
}

/** What a bench found: its part of the document. */
export interface Section {
  readonly title: string;
  /** How it was measured, and what the columns mean. */
  readonly how: string;
  readonly tables: readonly Table[];
  readonly ratios: readonly Ratio[];
  /** Numbers for other documents to quote, by name with unit. */
  readonly facts?: Readonly<Record<string, number>>;
}

export interface Table {
  readonly caption?: string;
  /** What the rows are: "program", "connections". */
  readonly head: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly key: string;
  /** With the unit. */
  readonly title: string;
  /** Digits after the point. */
  readonly digits: number;
}

export interface Row {
  readonly name: string;
  /** The samples of each column, one for each round. */
  readonly cells: Readonly<Record<string, readonly number[]>>;
  /** Why its figures are not told. */
  readonly refused?: string | undefined;
}

/** A figure to reach. */
export interface Ratio {
  /** What is compared, as the issue has it. */
  readonly work: string;
  /** One for each round; none where a run was refused or could not be made. */
  readonly samples: readonly number[];
  /** Neither: for information. */
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly unit?: string;
  readonly refused?: string | undefined;
}
