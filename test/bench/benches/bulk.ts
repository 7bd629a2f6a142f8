import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Ratio, Settings, Table } from '../harness/bench.js';
import { inTurn } from '../harness/closed-loop-rounds.js';
import { plantStore, timed } from '../harness/commands.js';
import { contentOf, writePlants } from '../harness/plant-files.js';
import { ratios } from '../harness/statistics.js';
import { number } from '../report/figures.js';

export const bulk: Bench = {
  name: 'bulk',
  about: 'import and export of a million plants, against the sqlite3 command line',
  missing: async () => (spawnSync('sqlite3', ['--version']).status === 0 ? undefined : 'there is no sqlite3'),
  async run(settings) {
    const count = settings.quick ? 50_000 : 1_000_000;
    const folder = mkdtempSync(join(settings.folder, 'bulk-'));
    const files = { ndjson: join(folder, 'plants.ndjson'), csv: join(folder, 'plants.csv') };
    await writePlants(files.ndjson, count, 'ndjson');
    await writePlants(files.csv, count, 'csv');
    const content = await contentOf(files.ndjson);
    const imports = await compared(importers(folder, files, content), count, settings);
    const exports = await compared(exporters(folder, content), count, settings);
    rmSync(folder, { recursive: true });
    return {
      title: 'Import and export',
      how: `${number(count, 0)} plants with ascending ids; the whole run of a program, from its start to its end. Both fill the same empty table of a file with a write-ahead log and \`synchronous=FULL\`: \`plant-store import\` from NDJSON in batches, each of them durable, \`sqlite3\` from CSV with \`.import\`, which is a single transaction. Both export to a file: NDJSON, and \`.mode json\`. The plants are compared with those that were given, by count and digest, after each round.`,
      tables: [imports.table('Import'), exports.table('Export')],
      ratios: [
        imports.ratio("`import` of a million into SQLite: against the `sqlite3` command line's CSV `.import`"),
        exports.ratio('`export` of a million: against that command line writing JSON'),
      ],
    };
  },
};

/** A way to do the work, which resolves to how long it took, in seconds. */
interface Way {
  readonly name: string;
  run(): Promise<number>;
}

function importers(folder: string, files: { readonly ndjson: string; readonly csv: string }, content: string): Way[] {
  const file = join(folder, 'plants.db');
  const environment = { DATABASE_URL: `sqlite:${file}` };
  const intoEmpty = async (work: () => Promise<number>) => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    await timed(plantStore('migrate'), { environment });
    const seconds = await work();
    await assertContent(['sqlite3', '-json', file, SELECT], join(folder, 'imported'), content);
    return seconds;
  };
  const sqlite3 = ['sqlite3', file, 'PRAGMA synchronous = FULL', '.mode csv', `.import ${files.csv} plants`] as const;
  return [
    {
      name: 'plant-store import',
      run: () => intoEmpty(() => timed(plantStore('import', files.ndjson), { environment })),
    },
    { name: 'sqlite3, .import', run: () => intoEmpty(() => timed(sqlite3)) },
  ];
}

/** Of the file that the last import left. */
function exporters(folder: string, content: string): Way[] {
  const file = join(folder, 'plants.db');
  const output = join(folder, 'exported');
  const checked = async (seconds: number) => {
    await assertIs(content, output);
    return seconds;
  };
  const environment = { DATABASE_URL: `sqlite:${file}` };
  return [
    {
      name: 'plant-store export',
      run: async () => checked(await timed(plantStore('export'), { environment, output })),
    },
    {
      name: 'sqlite3, .mode json',
      run: async () => checked(await timed(['sqlite3', '-json', file, SELECT], { output })),
    },
  ];
}

const SELECT = 'SELECT id, name, tag FROM plants ORDER BY id';

async function assertContent(command: readonly [string, ...string[]], output: string, content: string): Promise<void> {
  await timed(command, { output });
  await assertIs(content, output);
}

async function assertIs(content: string, path: string): Promise<void> {
  const found = await contentOf(path);
  if (found !== content) throw new Error(`there are ${found} instead of ${content}`);
}

/** Measures two ways in turn. */
async function compared(
  ways: readonly Way[],
  count: number,
  settings: Settings,
): Promise<{ table(caption: string): Table; ratio(work: string): Ratio }> {
  const ratesOf = await inTurn(
    ways,
    settings,
    async (way) => count / (await way.run()),
    (rate) => `${Math.round(rate)} plants/s`,
  );
  const [ours, others] = ways.map(ratesOf);
  return {
    table: (caption) => ({
      caption,
      head: 'program',
      columns: [{ key: 'rate', title: 'plants/s', digits: 0 }],
      rows: ways.map((way) => ({ name: way.name, cells: { rate: ratesOf(way) } })),
    }),
    ratio: (work) => ({ work, samples: ratios(ours ?? [], others ?? []), atLeast: 0.4 }),
  };
}
