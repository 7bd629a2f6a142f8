/** Settings of a benchmark run. */
export interface Settings {
  /** Whether this is a short smoke test, whose figures are not for publication. */
  readonly quick: boolean;
  /** Number of samples of each program. */
  readonly rounds: number;
  /** Durations of the measured load and of the warm-up before it. */
  readonly loadSeconds: number;
  readonly warmUpSeconds: number;
  /** Folder for stores and logs, removed at the end. */
  readonly folder: string;
  /** Prints progress. */
  say(text: string): void;
}

/** A benchmark. */
export interface Bench {
  readonly name: string;
  /** One-line description. */
  readonly about: string;
  /** Returns what this machine lacks to run it, if anything. */
  missing?(): Promise<string | undefined>;
  run(settings: Settings): Promise<Section>;
}

/** The results of a benchmark: its section of the document. */
export interface Section {
  readonly title: string;
  /** Method, and meaning of the columns. */
  readonly how: string;
  readonly tables: readonly Table[];
  readonly ratios: readonly Ratio[];
  /** Numbers that other documents quote, by name with unit. */
  readonly facts?: Readonly<Record<string, number>>;
}

export interface Table {
  readonly caption?: string;
  /** Title of the first column, such as "program". */
  readonly head: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly key: string;
  /** Includes the unit. */
  readonly title: string;
  /** Digits after the decimal point. */
  readonly digits: number;
}

export interface Row {
  readonly name: string;
  /** Samples of each column, one per round. */
  readonly cells: Readonly<Record<string, readonly number[]>>;
  /** Why the figures are not published. */
  readonly invalidReason?: string | undefined;
}

/** A ratio with an optional target. */
export interface Ratio {
  /** Description of the comparison. */
  readonly work: string;
  /** One sample per round; empty if a run was invalid or impossible. */
  readonly samples: readonly number[];
  /** Without a target, the ratio is informational. */
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly unit?: string;
  readonly invalidReason?: string | undefined;
}
