import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Ratio, Settings, Table } from '../harness/bench.js';
import { inTurn } from '../harness/closed-loop-rounds.js';
import { plantStore, runTimed } from '../harness/commands.js';
import { summarize, writePlants } from '../harness/plant-files.js';
import { ratios } from '../harness/statistics.js';
import { number } from '../report/figures.js';

export const bulk: Bench = {
  name: 'bulk',
  about: 'import and export of a million plants, compared with the sqlite3 command-line program',
  missing: async () => (spawnSync('sqlite3', ['--version']).status === 0 ? undefined : 'sqlite3 is not installed'),
  async run(settings) {
    const count = settings.quick ? 50_000 : 1_000_000;
    const folder = mkdtempSync(join(settings.folder, 'bulk-'));
    const files = { ndjson: join(folder, 'plants.ndjson'), csv: join(folder, 'plants.csv') };
    await writePlants(files.ndjson, count, 'ndjson');
    await writePlants(files.csv, count, 'csv');
    const content = await summarize(files.ndjson);
    const imports = await compare(importers(folder, files, content), count, settings);
    const exports = await compare(exporters(folder, content), count, settings);
    rmSync(folder, { recursive: true });
    return {
      title: 'Import and export',
      how: `${number(count, 0)} plants with ascending ids; the time includes the start and exit of each program. Both programs fill an empty table in a file with a write-ahead log and \`synchronous=FULL\`: \`plant-store import\` reads NDJSON and stores durable batches; \`sqlite3\` reads CSV with \`.import\` in a single transaction. Both export to a file: \`plant-store export\` writes NDJSON, \`sqlite3\` uses \`.mode json\`. After each round, the number and the digest of the plants are compared with those of the input.`,
      tables: [imports.table('Import'), exports.table('Export')],
      ratios: [
        imports.ratio(
          '`import` of a million plants into SQLite: relative to `.import` of CSV by the `sqlite3` command-line program',
        ),
        exports.ratio('`export` of a million plants: relative to JSON output of the same program'),
      ],
    };
  },
};

/** A program to compare. */
interface Contender {
  readonly name: string;
  /** Returns the duration in seconds. */
  run(): Promise<number>;
}

function importers(
  folder: string,
  files: { readonly ndjson: string; readonly csv: string },
  content: string,
): Contender[] {
  const file = join(folder, 'plants.db');
  const environment = { DATABASE_URL: `sqlite:${file}` };
  const intoEmpty = async (work: () => Promise<number>) => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    await runTimed(plantStore('migrate'), { environment });
    const seconds = await work();
    await assertContent(['sqlite3', '-json', file, SELECT], join(folder, 'imported'), content);
    return seconds;
  };
  const sqlite3 = ['sqlite3', file, 'PRAGMA synchronous = FULL', '.mode csv', `.import ${files.csv} plants`] as const;
  return [
    {
      name: 'plant-store import',
      run: () => intoEmpty(() => runTimed(plantStore('import', files.ndjson), { environment })),
    },
    { name: 'sqlite3, .import', run: () => intoEmpty(() => runTimed(sqlite3)) },
  ];
}

/** Returns programs that export the file that the last import filled. */
function exporters(folder: string, content: string): Contender[] {
  const file = join(folder, 'plants.db');
  const output = join(folder, 'exported');
  const checked = async (seconds: number) => {
    await assertFileContent(content, output);
    return seconds;
  };
  const environment = { DATABASE_URL: `sqlite:${file}` };
  return [
    {
      name: 'plant-store export',
      run: async () => checked(await runTimed(plantStore('export'), { environment, output })),
    },
    {
      name: 'sqlite3, .mode json',
      run: async () => checked(await runTimed(['sqlite3', '-json', file, SELECT], { output })),
    },
  ];
}

const SELECT = 'SELECT id, name, tag FROM plants ORDER BY id';

async function assertContent(command: readonly [string, ...string[]], output: string, content: string): Promise<void> {
  await runTimed(command, { output });
  await assertFileContent(content, output);
}

async function assertFileContent(content: string, path: string): Promise<void> {
  const found = await summarize(path);
  if (found !== content) throw new Error(`found ${found}, expected ${content}`);
}

/** Measures two contenders in turn. */
async function compare(
  contenders: readonly Contender[],
  count: number,
  settings: Settings,
): Promise<{ table(caption: string): Table; ratio(work: string): Ratio }> {
  const ratesOf = await inTurn(
    contenders,
    settings,
    async (contender) => count / (await contender.run()),
    (rate) => `${Math.round(rate)} plants/s`,
  );
  const [ours, others] = contenders.map(ratesOf);
  return {
    table: (caption) => ({
      caption,
      head: 'program',
      columns: [{ key: 'rate', title: 'plants/s', digits: 0 }],
      rows: contenders.map((contender) => ({ name: contender.name, cells: { rate: ratesOf(contender) } })),
    }),
    ratio: (work) => ({ work, samples: ratios(ours ?? [], others ?? []), atLeast: 0.4 }),
  };
}
