/** Figures of one round, by title of their column. */
export type Figures = Readonly<Record<string, number>>;

const twoDigits = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Compares contenders round by round with the first one, because changes on the machine affect both sides of a ratio. */
export class Comparison {
  readonly #names: readonly string[];
  /** The figures of each contender, by column. */
  readonly #columns = new Map<string, number[][]>();

  constructor(contenders: readonly { readonly name: string }[]) {
    this.#names = contenders.map(({ name }) => name);
  }

  /** Measures the contenders in turn, in every other round from the last to the first. */
  async add<T>(contenders: readonly T[], rounds: number, measure: (contender: T) => Promise<Figures>): Promise<void> {
    const order = [...contenders.entries()];
    for (let round = 1; round <= rounds; round++) {
      for (const [index, contender] of order) {
        const figures = await measure(contender);
        for (const [column, figure] of Object.entries(figures)) {
          const values = this.#columns.get(column) ?? this.#names.map(() => []);
          this.#columns.set(column, values);
          values[index]?.push(figure);
        }
        console.error(`round ${round}: ${this.#names[index]}: ${JSON.stringify(figures)}`);
      }
      order.reverse();
    }
  }

  /** Returns a table of medians and, after ×, of the median of the ratios to the first row, with their quartiles. */
  toTable(): string {
    const toCell = (own: readonly number[], first: readonly number[] = []) => {
      const ratios = own.map((value, round) => value / (first[round] ?? Number.NaN));
      const [low, middle, high] = [0.25, 0.5, 0.75].map((each) => twoDigits.format(quantile(ratios, each)));
      return `${threeDigits.format(quantile(own, 0.5))} ×${middle} (${low}–${high})`;
    };
    const columns = [...this.#columns.values()];
    const rows = this.#names.map((name, index) => {
      const cells = columns.map((values) => toCell(values[index] ?? [], values[0]));
      return `| ${[name, ...cells].join(' | ')} |`;
    });
    return [`| | ${[...this.#columns.keys()].join(' | ')} |`, `|---${'|--:'.repeat(columns.length)}|`, ...rows].join(
      '\n',
    );
  }
}

function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(fraction * sorted.length)] ?? Number.NaN;
}
