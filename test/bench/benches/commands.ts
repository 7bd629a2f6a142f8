import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inRepository } from '../../support/paths.js';
import type { Bench, Contender } from '../harness/bench.js';
import { digestOf, ndjsonLine, plantStore, runTimed, writeLines } from '../harness/bulk.js';
import { koaKnexSqlite, onSqlite } from '../harness/candidates.js';
import { msToFirstResponse } from '../harness/round.js';

const PLANTS_PER_SECOND = [{ key: 'rate', title: 'plants/s', digits: 0 }];

export const bulk: Bench = {
  name: 'bulk',
  title: 'Import and export',
  how: '1,000,000 plants with ascending ids; the time includes the start and exit of each program. Both programs fill an empty table in a file with a write-ahead log and `synchronous=FULL`: `plant-store import` reads NDJSON and stores durable batches; `sqlite3` reads CSV with `.import` in a single transaction. Both export to a file: `plant-store export` writes NDJSON, `sqlite3` uses `.mode json`. After each round, the number and the digest of the plants are compared with those of the input.',
  prepare({ quick, folder }) {
    const count = quick ? 50_000 : 1_000_000;
    const ndjson = join(folder, 'plants.ndjson');
    const csv = join(folder, 'plants.csv');
    const file = join(folder, 'plants.db');
    const output = join(folder, 'output');
    const databaseUrl = `sqlite:${file}`;
    writeLines(ndjson, count, ndjsonLine);
    writeLines(csv, count, (id) => `${id},Monstera ${id},indoor\n`);
    const digest = digestOf(ndjson);

    /** Measures an export to `output`. */
    const exporter = (name: string, run: () => number): Contender => [
      name,
      async () => {
        const rate = count / run();
        if (digestOf(output) !== digest) throw new Error(`${name}: the plants differ from those of the input`);
        return { rate };
      },
    ];
    const exportWithSqlite3 = () =>
      runTimed(['sqlite3', '-json', file, 'SELECT id, name, tag FROM plants ORDER BY id'], { output });
    /** Measures an import into an empty table, and exports it. */
    const importer = (name: string, run: () => number) =>
      exporter(name, () => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
        runTimed(plantStore('migrate'), { databaseUrl });
        const seconds = run();
        exportWithSqlite3();
        return seconds;
      });
    const compare = (caption: string, work: string, ours: Contender, other: Contender) => ({
      caption,
      head: 'program',
      columns: PLANTS_PER_SECOND,
      contenders: [ours, other],
      ratios: [{ work, of: ours[0], against: other[0], atLeast: 0.4 }],
    });
    const sqlite3Import = ['sqlite3', file, 'PRAGMA synchronous = FULL', '.mode csv', `.import ${csv} plants`] as const;
    return [
      compare(
        'Import',
        '`import` of a million plants into SQLite: relative to `.import` of CSV by the `sqlite3` command-line program',
        importer('plant-store import', () => runTimed(plantStore('import', ndjson), { databaseUrl })),
        importer('sqlite3, .import', () => runTimed(sqlite3Import)),
      ),
      // Of the file that the last import filled.
      compare(
        'Export',
        '`export` of a million plants: relative to JSON output of the same program',
        exporter('plant-store export', () => runTimed(plantStore('export'), { databaseUrl, output })),
        exporter('sqlite3, .mode json', exportWithSqlite3),
      ),
    ];
  },
};

export const start: Bench = {
  name: 'start',
  title: 'Start to first response',
  how: 'From the start of the process to the first 200, including the creation of a new SQLite file and its table.',
  async prepare({ quick, folder }) {
    const candidates = [onSqlite, koaKnexSqlite];
    // Warm up the file system cache and the HTTP client of this process.
    for (const candidate of candidates) await msToFirstResponse(candidate, folder);
    const work = 'start to first response: relative to Koa + Knex + sqlite3';
    return [
      {
        head: 'program',
        columns: [{ key: 'ms', title: 'ms', digits: 0 }],
        rounds: quick ? 3 : 15,
        contenders: candidates.map((candidate) => [
          candidate.name,
          async () => ({ ms: await msToFirstResponse(candidate, folder) }),
        ]),
        ratios: [{ work, key: 'ms', of: onSqlite.name, against: koaKnexSqlite.name, atMost: 1.5 }],
      },
    ];
  },
};

const CALLS = { execute: '`execute`, sequentially', executeAll: '`executeAll` of 1,000' };

export const createPlant: Bench = {
  name: 'create-plant',
  title: 'CreatePlant, no HTTP',
  how: '1,000,000 plants with ascending ids, stored in a Map by a single thread. Each round is a new process.',
  prepare: ({ quick }) => [
    {
      head: 'call',
      columns: PLANTS_PER_SECOND,
      rounds: quick ? 1 : 5,
      contenders: Object.entries(CALLS).map(([call, name]) => [name, () => createPlants(call)]),
      ratios: [
        { work: 'CreatePlant on the memory repository, no HTTP', of: CALLS.execute, atLeast: 500_000, unit: '/s' },
      ],
    },
  ],
};

async function createPlants(call: string) {
  const program = inRepository('dist/test/bench/harness/create-plant-load.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, call]);
  return { rate: Number(stdout) };
}
