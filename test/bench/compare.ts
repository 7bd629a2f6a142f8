/** Figures of one round, by title of their column. */
export type Figures = Readonly<Record<string, number>>;

/**
 * Takes each measure of contenders in turn (A B C A B C …), so that changes on the machine affect all of them. Returns a
 * table of medians with ranges and, below the first row, of ratios to it, which are computed round by round. Reports each figure as soon as it is known.
 */
export async function compare<Contender extends { readonly name: string }>(
  contenders: readonly Contender[],
  measures: readonly ((contender: Contender) => Promise<Figures>)[],
  rounds: number,
  report: (line: string) => void,
): Promise<string> {
  const samples = contenders.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const measure of measures) {
      for (const [index, contender] of contenders.entries()) {
        const figures = await measure(contender);
        const own = samples[index] ?? [];
        own[round] = { ...own[round], ...figures };
        report(`round ${round + 1}: ${contender.name}: ${JSON.stringify(figures)}`);
      }
    }
  }
  const columns = Object.keys(samples[0]?.[0] ?? {});
  const valuesOf = (index: number, column: string) =>
    samples[index]?.map((figures) => figures[column] ?? Number.NaN) ?? [];
  const rows = contenders.map(({ name }, index) => {
    const cells = columns.map((column) => toCell(valuesOf(index, column), index > 0 ? valuesOf(0, column) : undefined));
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [`| | ${columns.join(' | ')} |`, `|---${'|--:'.repeat(columns.length)}|`, ...rows].join('\n');
}

const twoDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function toCell(values: readonly number[], baseline: readonly number[] | undefined): string {
  const figure = threeDigits.format(median(values));
  if (baseline === undefined) return `${figure} ${toRange(values, threeDigits)}`;
  const ratios = values.map((value, round) => value / (baseline[round] ?? Number.NaN));
  return `${figure} ×${twoDigits.format(median(ratios))} ${toRange(ratios, twoDigits)}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

function toRange(values: readonly number[], format: Intl.NumberFormat): string {
  return `(${format.format(Math.min(...values))}–${format.format(Math.max(...values))})`;
}
