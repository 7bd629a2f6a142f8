/** Figures of one round, by title of their column. */
export type Figures = Readonly<Record<string, number>>;

/** What is measured. */
interface Contender {
  readonly name: string;
  /** Name of the one that its figures are divided by; the first by default. */
  readonly baseline?: string;
}

/**
 * Takes each measure of contenders in turn (A B C A B C …), so that changes on the machine affect all of them. Returns a
 * table of medians with ranges, and of ratios, which are computed round by round.
 */
export async function compare<Each extends Contender>(
  contenders: readonly Each[],
  measures: readonly ((contender: Each) => Promise<Figures>)[],
  rounds: number,
): Promise<string> {
  const measured = new Map(contenders.map(({ name }): [string, Figures[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const measure of measures) {
      for (const contender of contenders) {
        const figures = await measure(contender);
        const samples = measured.get(contender.name) ?? [];
        samples[round] = { ...samples[round], ...figures };
        process.stderr.write(`round ${round + 1}: ${contender.name}: ${JSON.stringify(figures)}\n`);
      }
    }
  }
  const [first] = measured.keys();
  const [columns = []] = [...measured.values()].map(([figures]) => Object.keys(figures ?? {}));
  const rows = contenders.map(({ name, baseline = first }) => {
    const cells = columns.map((column) => {
      const samplesOf = (each = '') => measured.get(each)?.map((figures) => figures[column] ?? Number.NaN) ?? [];
      const [samples, others] = [samplesOf(name), samplesOf(baseline)];
      if (baseline === name) return `${threeDigits.format(median(samples))} ${toRange(samples, threeDigits)}`;
      const ratios = samples.map((sample, round) => sample / (others[round] ?? Number.NaN));
      const ratio = twoDigits.format(median(ratios));
      return `${threeDigits.format(median(samples))} ×${ratio} ${toRange(ratios, twoDigits)}`;
    });
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [`| | ${columns.join(' | ')} |`, `|---${'|--:'.repeat(columns.length)}|`, ...rows].join('\n');
}

const twoDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number) => sorted.at(index) ?? Number.NaN;
  return (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
}

function toRange(samples: readonly number[], format: Intl.NumberFormat): string {
  return `(${format.format(Math.min(...samples))}–${format.format(Math.max(...samples))})`;
}
