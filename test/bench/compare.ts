/** Figures of one round, by title of their column. */
export type Figures = Readonly<Record<string, number>>;

/** What is measured, such as a program under a load. */
export interface Contender {
  readonly name: string;
  measure(): Promise<Figures>;
  /** Name of the contender that its figures are divided by, round by round. */
  readonly baseline?: string | undefined;
}

/**
 * Measures contenders in turn (A B C A B C …), so that changes on the machine affect all of them, and returns a table of
 * medians, ranges and ratios.
 */
export async function compare(contenders: readonly Contender[], rounds: number): Promise<string> {
  const measured = new Map(contenders.map(({ name }): [string, Figures[]] => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const { name, measure } of contenders) {
      const figures = await measure();
      measured.get(name)?.push(figures);
      process.stderr.write(`round ${round}: ${name}: ${JSON.stringify(figures)}\n`);
    }
  }
  const columns = Object.keys([...measured.values()][0]?.[0] ?? {});
  const rows = contenders.map(({ name, baseline }) => {
    const all = measured.get(name) ?? [];
    const others = measured.get(baseline ?? '') ?? [];
    const cells = columns.map((column) => {
      const samples = all.map((figures) => figures[column] ?? Number.NaN);
      const ratios = others.map((figures, round) => (samples[round] ?? Number.NaN) / (figures[column] ?? Number.NaN));
      return ratios.length === 0 ? spread(samples) : `${spread(samples)} × ${spread(ratios)}`;
    });
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [`| | ${columns.join(' | ')} |`, `|---${'|--:'.repeat(columns.length)}|`, ...rows].join('\n');
}

const format = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Formats the median of samples, with their range if there are several. */
function spread(samples: readonly number[]): string {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number) => sorted.at(index) ?? Number.NaN;
  const median = (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
  const range = samples.length === 1 ? '' : ` (${format.format(at(0))}–${format.format(at(-1))})`;
  return `${format.format(median)}${range}`;
}
