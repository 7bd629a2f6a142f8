import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, type Figures } from './compare.js';
import { measureFloods, measureIdle } from './connections.js';
import { measureLoad } from './load.js';
import { type Contender, contenders, newFolder, startServer } from './programs.js';

const USAGE = `Usage: npm run bench -- [NAME…]

Measures Plant Store and other programs in turn, and prints a table for each NAME. Needs wrk,
and PostgreSQL for servers.

Names: ${Object.keys(contenders).join(', ')}; all by default
`;
const ROUNDS = 5;
/** Number of plants of an import and an export. */
const BULK_PLANTS = 200_000;

/** The rate of some numbers of clients; of the largest, also the other figures. */
const loads = [1, 4, 16, 64].map((connections) => async (contender: Contender) => {
  const { 'requests/s': rate = Number.NaN, ...others } = await measureLoad(connections)(contender);
  return { [`${connections}`]: rate, ...(connections === 64 && others) };
});

/** Imports plants into an empty store, exports them, and compares the two files. */
async function measureBulk({ args }: Contender): Promise<Figures> {
  const folder = newFolder();
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  const line = (_: unknown, id: number) => `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}\n`;
  writeFileSync(input, Array.from({ length: BULK_PLANTS }, line).join(''));
  const rateOf = (...command: readonly string[]) => {
    const began = performance.now();
    const env = { ...process.env, DATABASE_URL: `sqlite:${folder}/plants.db` };
    const { status } = spawnSync(process.execPath, [...args, ...command], {
      env,
      stdio: ['ignore', openSync(output, 'w'), 2],
    });
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

const measures: Readonly<Record<keyof typeof contenders, readonly ((contender: Contender) => Promise<Figures>)[]>> = {
  sqlite: loads,
  servers: loads,
  memory: [measureLoad(64)],
  bulk: [measureBulk],
  start: [measureStart],
  idle: [measureIdle],
  floods: [measureFloods],
};

const isTable = (name: string): name is keyof typeof contenders => name in contenders;
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(contenders);
if (!names.every(isTable)) {
  process.stderr.write(USAGE);
  process.exit(64);
}
const TMPFS = 0x01021994;
if (statfsSync(tmpdir()).type === TMPFS) throw new Error(`a sync in ${tmpdir()} costs nothing; set TMPDIR to a disk`);

process.stdout.write(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}
Medians of ${ROUNDS} rounds × ratio to the first row of the table (range)\n`);
for (const name of names)
  process.stdout.write(`\n## ${name}\n\n${await compare(contenders[name], measures[name], ROUNDS, console.error)}\n`);
