/** Figures of one round, by title of their column. */
export type Figures = Readonly<Record<string, number>>;

/** Compares contenders round by round with the first one, because changes on the machine affect both sides of a ratio. */
export class Comparison {
  readonly #names: readonly string[];
  readonly #report: (line: string) => void;
  /** The figures of each contender, by column. */
  readonly #columns = new Map<string, number[][]>();

  /** @param report receives each figure as soon as it is known */
  constructor(names: readonly string[], report: (line: string) => void) {
    this.#names = names;
    this.#report = report;
  }

  /** Measures the contenders in turn, in every other round from the last to the first. */
  async add<T>(contenders: readonly T[], rounds: number, measure: (contender: T) => Promise<Figures>): Promise<void> {
    const order = [...contenders.entries()];
    for (let round = 1; round <= rounds; round++) {
      for (const [index, contender] of order) {
        const figures = await measure(contender);
        for (const [column, figure] of Object.entries(figures)) this.#valuesOf(column)[index]?.push(figure);
        this.#report(`round ${round}: ${this.#names[index]}: ${JSON.stringify(figures)}`);
      }
      order.reverse();
    }
  }

  #valuesOf(column: string): number[][] {
    const values = this.#columns.get(column) ?? this.#names.map(() => []);
    this.#columns.set(column, values);
    return values;
  }

  /** Returns a table of medians and, after ×, of the median of the ratios to the first row, with their quartiles. */
  toTable(): string {
    const columns = [...this.#columns.keys()];
    const rows = this.#names.map((name, index) => {
      const cells = columns.map((column) => toCell(this.#valuesOf(column), index));
      return `| ${[name, ...cells].join(' | ')} |`;
    });
    return [`| | ${columns.join(' | ')} |`, `|---${'|--:'.repeat(columns.length)}|`, ...rows].join('\n');
  }
}

const twoDigits = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function toCell(values: readonly (readonly number[])[], index: number): string {
  const [baseline = [], own = []] = [values[0], values[index]];
  const figure = threeDigits.format(quantile(own, 0.5));
  if (index === 0)
    return `${figure} (${threeDigits.format(quantile(own, 0.25))}–${threeDigits.format(quantile(own, 0.75))})`;
  const ratios = own.map((value, round) => value / (baseline[round] ?? Number.NaN));
  const [low, middle, high] = [0.25, 0.5, 0.75].map((each) => twoDigits.format(quantile(ratios, each)));
  return `${figure} ×${middle} (${low}–${high})`;
}

function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(fraction * sorted.length)] ?? Number.NaN;
}
