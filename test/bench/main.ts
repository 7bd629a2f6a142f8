import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Comparison, type Figures } from './compare.js';
import { compareHostileRequests } from './hostile.js';
import { measureIdle } from './idle.js';
import { LoadedServer } from './load.js';
import { type Contender, contenders, newFolder, plantStore, startServer } from './programs.js';

/** Rounds of a load, which last a second each, in each of the times that the programs of a table are started. */
const [ROUNDS, STARTS] = [7, 3];
/** Rounds of the other measures, each with a start of its own. */
const OTHER_ROUNDS = 15;
/** Number of plants of an import and an export. */
const BULK_PLANTS = 200_000;

type Measure = (comparison: Comparison, programs: readonly Contender[]) => Promise<void>;

/** Returns a measure of programs that run at the same time, but get load in turn, by numbers of clients. */
function loads(clients: readonly number[]): Measure {
  return async (comparison, programs) => {
    for (let start = 1; start <= STARTS; start++) {
      const servers: LoadedServer[] = [];
      for (const program of programs) {
        const server = new LoadedServer(await startServer(program));
        // With many clients, so that V8 has compiled the program when few are measured.
        await server.measure(64, 3);
        servers.push(server);
      }
      for (const count of clients) await comparison.add(servers, ROUNDS, (server) => server.measure(count, 1));
      for (const server of servers) await server.kill();
    }
  };
}

/** Returns a measure of programs that run one at a time. */
function oneByOne(measure: (program: Contender) => Promise<Figures>): Measure {
  return (comparison, programs) => comparison.add(programs, OTHER_ROUNDS, measure);
}

/** Imports plants into an empty store, exports them, and compares the two files. */
async function measureBulk({ args }: Contender): Promise<Figures> {
  const folder = newFolder();
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  const line = (_: unknown, id: number) => `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;
  writeFileSync(input, Array.from({ length: BULK_PLANTS }, line).join(''));
  const rateOf = (...command: readonly string[]) => {
    const began = performance.now();
    const env = { ...process.env, DATABASE_URL: `sqlite:${folder}/plants.db` };
    const stdio = ['ignore', openSync(output, 'w'), 'inherit'] as const;
    const { status } = spawnSync(process.execPath, [...args, ...command], { env, stdio: [...stdio] });
    if (status !== 0) throw new Error(`${command[0]} failed`);
    return (BULK_PLANTS * 1000) / (performance.now() - began);
  };
  const figures = { 'import, plants/s': rateOf('import', input), 'export, plants/s': rateOf('export') };
  if (!readFileSync(output).equals(readFileSync(input))) throw new Error('the export differs from the import');
  return figures;
}

async function measureStart(contender: Contender): Promise<Figures> {
  const { startMs, cpuMs, kill } = await startServer(contender);
  const figures = { 'start to first response, ms': startMs, 'processor, ms': cpuMs() };
  await kill();
  return figures;
}

const compare = (programs: readonly Contender[], measure: Measure) => async () => {
  const comparison = new Comparison(programs);
  await measure(comparison, programs);
  return comparison;
};

const tables: Readonly<Record<string, () => Promise<Comparison>>> = {
  sqlite: compare(contenders.sqlite, loads([1, 4, 16, 64])),
  postgres: compare(contenders.postgres, loads([1, 4, 16, 64])),
  memory: compare(contenders.memory, loads([64])),
  bulk: compare([plantStore], oneByOne(measureBulk)),
  start: compare(contenders.start, oneByOne(measureStart)),
  idle: compare(contenders.idle, oneByOne(measureIdle)),
  hostile: () => compareHostileRequests(plantStore),
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tables);
if (!names.every((name) => name in tables)) {
  console.error(`Usage: npm run bench -- [NAME…]

Measures programs in turn, and prints a table for each NAME: ${Object.keys(tables).join(', ')}.
Needs wrk, and PostgreSQL for postgres.`);
  process.exit(64);
}
const TMPFS = 0x01021994;
if (statfsSync(tmpdir()).type === TMPFS) throw new Error(`a sync in ${tmpdir()} costs nothing; set TMPDIR to a disk`);

console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}
Median × median of the ratios to the first row (quartiles); loads: ${ROUNDS} rounds in each of ${STARTS} starts`);
for (const name of names) console.log(`\n## ${name}\n\n${(await tables[name]?.())?.toTable()}`);
