import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { inRepository } from '../support/paths.js';
import { compare, type Figures } from './compare.js';
import { measureFloods, measureIdle } from './connections.js';
import { runRound } from './load.js';
import {
  koaEcho,
  koaKnex,
  type Program,
  singleFile,
  singleFileOnPostgres,
  startServer,
  storingPeers,
} from './programs.js';
import { temporaryFolder } from './store.js';

const USAGE = `Usage: npm run bench -- [NAME…] [--against FOLDER] [--rounds N] [--seconds N] [--plants N]

Measures Plant Store and other programs in turn, and prints a table for each NAME. Needs wrk and sqlite3,
and PostgreSQL for servers.

  --against FOLDER  instead of the other programs, another checkout of this project, which has been built
  --rounds N        measurements of each program [5]
  --seconds N       duration of each load [8]
  --plants N        plants of an import and an export [200000]

Names: sqlite, servers, memory, bulk, start, idle, floods; all by default
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    plants: { type: 'string', default: '200000' },
  },
});
const { against } = values;
const [rounds, seconds, plants] = [Number(values.rounds), Number(values.seconds), Number(values.plants)];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const TMPFS = 0x01021994;
if (statfsSync(tmpdir()).type === TMPFS) throw new Error(`a sync in ${tmpdir()} costs nothing; set TMPDIR to a disk`);

const load = (connections: number) => (program: Program) => runRound(program, connections, seconds);

/** The rate of some numbers of clients; of the largest, also the other figures. */
const loads = [1, 4, 16, 64].map((connections) => async (program: Program) => {
  const { 'requests/s': rate = Number.NaN, ...others } = await load(connections)(program);
  return { [`${connections}`]: rate, ...(connections === 64 && others) };
});

/** Imports plants into an empty store, exports them, and compares the two files. */
async function measureBulk({ args }: Program): Promise<Figures> {
  const store = temporaryFolder();
  const [input, output] = [join(store, 'input'), join(store, 'output')];
  const line = (_: unknown, id: number) => `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;
  writeFileSync(input, Array.from({ length: plants }, line).join(''));
  const rateOf = (...command: readonly string[]) => {
    const began = performance.now();
    const env = { ...process.env, DATABASE_URL: `sqlite:${store}/plants.db` };
    const stdio = ['ignore', openSync(output, 'w'), 2] as const;
    const { status } = spawnSync(process.execPath, [...args, ...command], { env, stdio: [...stdio] });
    if (status !== 0) throw new Error(`${command[0]} failed`);
    return (plants * 1000) / (performance.now() - began);
  };
  const figures = { 'import, plants/s': rateOf('import', input), 'export, plants/s': rateOf('export') };
  if (!readFileSync(output).equals(readFileSync(input))) throw new Error('the export differs from the import');
  return figures;
}

async function measureStart(program: Program): Promise<Figures> {
  const server = await startServer(program);
  const cpuMs = server.cpuMs();
  await server.kill();
  return { 'start to first response, ms': server.startMs, 'processor, ms': cpuMs };
}

/** Settings of Plant Store and its store, by what they add to its name. */
type Settings = Readonly<Record<string, Pick<Program, 'env' | 'store'>>>;

const withoutLog = { ACCESS_LOG: 'off' };
const inMemory = { DATABASE_URL: 'memory:' };
const plain: Settings = { '': {} };
const onSqlite: Settings = { ...plain, ', ACCESS_LOG=off': { env: withoutLog } };
const onPostgres: Settings = {
  ', PostgreSQL': { store: 'postgres' },
  ', PostgreSQL, ACCESS_LOG=off': { store: 'postgres', env: withoutLog },
};
const onNothing: Settings = {
  ', memory:': { store: 'none', env: inMemory },
  ', memory:, ACCESS_LOG=off': { store: 'none', env: { ...inMemory, ...withoutLog } },
};
const heaps: Settings = { ...plain, ', heap of 256 MiB': { env: { NODE_OPTIONS: '--max-old-space-size=256' } } };

/** What is measured of Plant Store, with which settings, and of which others. */
type Bench = readonly [
  measures: readonly ((program: Program) => Promise<Figures>)[],
  Settings,
  others: readonly Program[],
];

const benches: Readonly<Record<string, Bench>> = {
  sqlite: [loads, onSqlite, [singleFile, ...storingPeers]],
  servers: [loads, onPostgres, [singleFileOnPostgres]],
  memory: [[load(64)], onNothing, [koaEcho]],
  bulk: [[measureBulk], plain, []],
  start: [[measureStart], plain, [singleFile, koaKnex]],
  idle: [[measureIdle], plain, [singleFile, koaEcho]],
  floods: [[measureFloods], heaps, [singleFile]],
};

/** Returns Plant Store with each of some settings, from a checkout. */
function plantStores(settings: Settings, checkout: string, name: string): Program[] {
  const { bin } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const args = [resolve(checkout, bin['plant-store'])];
  return Object.entries(settings).map(([setting, program]) => {
    const baseline = against && { baseline: against + setting };
    return { name: name + setting, args, ...program, ...baseline };
  });
}

const names = positionals.length > 0 ? positionals : Object.keys(benches);
const hasUnknown = names.some((name) => !(name in benches));
if (values.help || hasUnknown || ![rounds, seconds, plants].every((number) => number >= 1)) {
  process.stderr.write(USAGE);
  process.exit(64);
}
process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}
Medians of ${rounds} rounds × ratio to ${against ?? 'the first row of the table'} (range)\n`);
for (const [name, [measures, settings, others]] of Object.entries(benches)) {
  if (!names.includes(name)) continue;
  const [first = [], rest = []] =
    against === undefined ? [others.slice(0, 1), others.slice(1)] : [plantStores(settings, against, against)];
  const programs = [...first, ...plantStores(settings, inRepository('.'), 'Plant Store'), ...rest];
  try {
    process.stdout.write(`\n## ${name}\n\n${await compare(programs, measures, rounds)}\n`);
  } catch (error) {
    process.stdout.write(`\n## ${name}: ${error}\n`);
    process.exitCode = 1;
  }
}
