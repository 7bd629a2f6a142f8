import type { Ratio, Section, Table } from '../harness/bench.js';
import type { Data, StoredSection } from './data.js';
import { cell, figure, isReached, target } from './figures.js';

/** `docs/benchmarks.md`, made anew from the data. */
export function documentOf({ machine, sections }: Data): string {
  const ratios = sections.flatMap((section) => section.ratios);
  return [
    '# Benchmarks',
    '',
    'Made by `npm run bench`, from the data in [benchmarks.json](benchmarks.json); do not edit it by hand. Each section names',
    'the command that measures it again.',
    '',
    '![Answers a second of each program](benchmarks.svg)',
    '',
    '## Figures to reach',
    '',
    'Each is a ratio of two programs measured in turn within one run: the median of the rounds, and their spread.',
    '',
    ...ratioTable(ratios.filter(({ atLeast, atMost }) => (atLeast ?? atMost) !== undefined)),
    '',
    '## How it is measured',
    '',
    ...METHOD,
    '',
    '| machine | |',
    '|---|---|',
    ...Object.entries(machine).map(([name, value]) => `| ${name} | ${value} |`),
    '',
    ...sections.flatMap(sectionOf),
  ].join('\n');
}

const METHOD = [
  '- Programs are measured in rounds, one after another, A B C A B C …; a table shows the median of the rounds and, in',
  '  parentheses, the smallest and the largest. Each round has a new, empty store, and a load before it that does not count.',
  '- Plant Store runs as its users run it, `plant-store serve` with default settings and its request log on, into a file.',
  '  The others are small programs in `test/bench/peers/`, written as their own documentation shows. All that store sync',
  '  before they answer and check the same bearer token and the same body; they log nothing.',
  '- The load generator runs on the same machine, in one thread. Every request has an id of its own.',
  '- At the end of each round the program is killed with -9 under load, and the rows of its store are counted against its',
  '  answers. Where an answer was not 200, or an answered plant is missing, no figure is told. (Feathers answers 201.)',
  '- "processor" is the time of all threads of the program for each answer; it is less noisy than the rate.',
  '- "syncs" are counted in a short run of their own: those of SQLite by strace, those of servers by themselves.',
];

function sectionOf(section: StoredSection): string[] {
  return [
    `## ${section.title}`,
    '',
    `${section.how} Measured ${section.date}: \`npm run bench -- ${section.bench}\`.`,
    '',
    ...section.tables.flatMap((table) => [...(table.caption ? [`${table.caption}:`, ''] : []), ...tableOf(table), '']),
    ...(section.ratios.length > 0 ? [...ratioTable(section.ratios), ''] : []),
  ];
}

function tableOf({ head, columns, rows }: Table): string[] {
  const shown = columns.filter(({ key }) => rows.some((row) => (row.cells[key]?.length ?? 0) > 0));
  return [
    `| ${[head, ...shown.map(({ title }) => title)].join(' | ')} |`,
    `|---${'|--:'.repeat(shown.length)}|`,
    ...rows.map((row) => `| ${[row.name, ...shown.map(({ key, digits }) => cell(row, key, digits))].join(' | ')} |`),
  ];
}

function ratioTable(ratios: readonly Ratio[]): string[] {
  return [
    '| work | figure | target | reached |',
    '|---|--:|--:|---|',
    ...ratios.map((ratio) => {
      const reached = isReached(ratio);
      const verdict = reached === undefined ? '–' : reached ? 'yes' : '**no**';
      return `| ${ratio.work} | ${figure(ratio)} | ${target(ratio)} | ${verdict} |`;
    }),
  ];
}

/** A section by itself, to print. */
export function textOf(bench: string, date: string, section: Section): string {
  return sectionOf({ ...section, bench, date }).join('\n');
}
