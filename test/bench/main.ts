import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { inRepository } from '../support/paths.js';
import { type Contender, compare, type Figures } from './compare.js';
import { measureFloods, measureIdle } from './connections.js';
import { runRound } from './load.js';
import { koaEcho, type Program, singleFile, startServer, storingPeers } from './programs.js';

const USAGE = `Usage: npm run bench -- [NAME…] [--against FOLDER] [--rounds N] [--seconds N] [--plants N]

Measures Plant Store and other programs in turn, and prints a table for each NAME. Needs wrk and sqlite3.

  --against FOLDER  instead of the other programs, another checkout of this project, which has been built
  --rounds N        measurements of each program [5]
  --seconds N       duration of each load [8]
  --plants N        plants of an import and an export [200000]

Names: sqlite, one-client, memory, clients, bulk, start, idle, floods; all by default
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

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const TMPFS = 0x01021994;
if (statfsSync(folder).type === TMPFS) throw new Error(`a sync in ${tmpdir()} costs nothing; set TMPDIR to a disk`);

/** Returns the program of a checkout. */
function plantStore(checkout: string, setting: string, env: Readonly<Record<string, string>>): Program {
  const { bin } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const name = `${checkout === against ? checkout : 'Plant Store'}${setting}`;
  return { name, args: [resolve(checkout, bin['plant-store'])], env, storesNothing: env['DATABASE_URL'] === 'memory:' };
}

/** Compares our program, with each of some settings, with the first of the others, or with the other checkout. */
function contend(
  measure: (program: Program) => Promise<Figures>,
  settings: Readonly<Record<string, Readonly<Record<string, string>>>>,
  others: readonly Program[],
): Contender[] {
  const toContender = (program: Program, baseline?: Program): Contender => {
    return { name: program.name, measure: () => measure(program), baseline: baseline?.name };
  };
  const pairs = Object.entries(settings).map(([setting, env]) => {
    return { own: plantStore(inRepository('.'), setting, env), before: plantStore(against ?? '.', setting, env) };
  });
  if (against !== undefined) return pairs.flatMap(({ own, before }) => [toContender(before), toContender(own, before)]);
  const [first, ...more] = [...others, ...pairs.map(({ own }) => own)];
  return first ? [toContender(first), ...more.map((program) => toContender(program, first))] : [];
}

const load = (connections: number) => (program: Program) => runRound(program, connections, { folder, seconds });

async function ratesByClients(program: Program): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const connections of [1, 4, 16, 64, 256])
    figures[`${connections}`] = (await load(connections)(program))['requests/s'] ?? Number.NaN;
  return figures;
}

/** Imports plants into an empty store, exports them, and compares the two files. */
async function importAndExport({ args }: Program): Promise<Figures> {
  const store = mkdtempSync(join(folder, 'bulk-'));
  const [input, output] = [join(store, 'input'), join(store, 'output')];
  const line = (_: unknown, id: number) => `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;
  writeFileSync(input, Array.from({ length: plants }, line).join(''));
  const rateOf = (...command: readonly string[]) => {
    const began = performance.now();
    const env = { ...process.env, DATABASE_URL: `sqlite:${store}/plants.db` };
    const child = spawnSync(process.execPath, [...args, ...command], {
      env,
      stdio: ['ignore', openSync(output, 'w'), 2],
    });
    if (child.status !== 0) throw new Error(`${command[0]} failed`);
    return (plants * 1000) / (performance.now() - began);
  };
  const figures = { 'import, plants/s': rateOf('import', input), 'export, plants/s': rateOf('export') };
  if (!readFileSync(output).equals(readFileSync(input))) throw new Error('the export differs from the import');
  return figures;
}

async function measureStart(program: Program): Promise<Figures> {
  const server = await startServer(program, folder);
  const cpuMs = server.cpuMs();
  await server.kill();
  return { 'start to first response, ms': server.startMs, 'processor, ms': cpuMs };
}

const ours = { '': {}, ', ACCESS_LOG=off': { ACCESS_LOG: 'off' } };
const memory = { DATABASE_URL: 'memory:' };
const inMemory = { ', memory:': memory, ', memory:, ACCESS_LOG=off': { ...memory, ACCESS_LOG: 'off' } };
const heaps = { '': {}, ', heap of 256 MiB': { NODE_OPTIONS: '--max-old-space-size=256' } };

const benches: Readonly<Record<string, () => Contender[]>> = {
  sqlite: () => contend(load(64), ours, [singleFile, ...storingPeers, koaEcho]),
  'one-client': () => contend(load(1), ours, [singleFile, ...storingPeers]),
  memory: () => contend(load(64), inMemory, [koaEcho]),
  clients: () => contend(ratesByClients, ours, [singleFile, ...storingPeers]),
  bulk: () => contend(importAndExport, { '': {} }, []),
  start: () => contend(measureStart, { '': {} }, [singleFile, ...storingPeers]),
  idle: () => contend((program) => measureIdle(program, folder), { '': {} }, [singleFile, koaEcho]),
  floods: () => contend((program) => measureFloods(program, folder), heaps, [singleFile]),
};

const names = positionals.length > 0 ? positionals : Object.keys(benches);
if (
  values.help ||
  names.some((name) => !(name in benches)) ||
  ![rounds, seconds, plants].every((number) => number >= 1)
) {
  process.stderr.write(USAGE);
  process.exit(64);
}
process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}
Medians of ${rounds} rounds (range) × ratio to ${against ?? 'the first row of the table'}\n`);
for (const name of names) {
  try {
    process.stdout.write(`\n## ${name}\n\n${await compare(benches[name]?.() ?? [], rounds)}\n`);
  } catch (error) {
    process.stdout.write(`\n## ${name}: ${error}\n`);
    process.exitCode = 1;
  }
}
