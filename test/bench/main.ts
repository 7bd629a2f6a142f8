import { statfsSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { Comparison } from './compare.js';
import { compareHostileRequests } from './hostile.js';
import { LoadedServer } from './load.js';
import { type Contender, contenders, plantStore, startServer } from './programs.js';

/** Rounds of a load, which last a second each, in each of the times that the programs of a table are started. */
const [ROUNDS, STARTS] = [7, 3];
/** Starts of each program of which a start is measured. */
const MEASURED_STARTS = 15;

type Measure = (comparison: Comparison, programs: readonly Contender[]) => Promise<void>;

/** Measures programs that run at the same time, but get load in turn, by number of clients. */
const loads: Measure = async (comparison, programs) => {
  for (let start = 1; start <= STARTS; start++) {
    const servers: LoadedServer[] = [];
    for (const program of programs) {
      const server = new LoadedServer(await startServer(program));
      // Many clients come first, so that V8 has compiled the program when few are measured.
      await server.measure(64, 3);
      servers.push(server);
    }
    for (const clients of [1, 4, 16, 64]) await comparison.add(servers, ROUNDS, (server) => server.measure(clients, 1));
    for (const server of servers) await server.kill();
  }
};

const starts: Measure = (comparison, programs) =>
  comparison.add(programs, MEASURED_STARTS, async (program) => {
    const { startMs, cpuMs, kill } = await startServer(program);
    const figures = { 'start to first response, ms': startMs, 'processor, ms': cpuMs() };
    await kill();
    return figures;
  });

const compare = (programs: readonly Contender[], measure: Measure) => async () => {
  const comparison = new Comparison(programs);
  await measure(comparison, programs);
  return comparison;
};

const tables: Readonly<Record<string, () => Promise<Comparison>>> = {
  sqlite: compare(contenders.sqlite, loads),
  'slow-disk': compare(contenders['slow-disk'], loads),
  postgres: compare(contenders.postgres, loads),
  start: compare(contenders.start, starts),
  hostile: () => compareHostileRequests(plantStore),
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tables);
if (!names.every((name) => name in tables)) {
  console.error(`Usage: npm run bench -- [NAME…]

Measures programs in turn, and prints a table for each NAME: ${Object.keys(tables).join(', ')}.
Needs wrk; slow-disk also strace, and postgres also PostgreSQL.`);
  process.exit(64);
}
const TMPFS = 0x01021994;
if (statfsSync(tmpdir()).type === TMPFS) throw new Error(`a sync in ${tmpdir()} costs nothing; set TMPDIR to a disk`);

console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}
Median × median of the ratios to the first row (quartiles); loads: ${ROUNDS} rounds in each of ${STARTS} starts`);
for (const name of names) console.log(`\n## ${name}\n\n${(await tables[name]?.())?.toTable()}`);
