import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '../support/paths.js';
import { bulk, createPlant, start } from './benches/commands.js';
import { slowDisk, tenMillion } from './benches/scale.js';
import { clients, idle, latency, onEngines } from './benches/throughput.js';
import { run } from './harness/bench.js';
import { describeMachine } from './harness/machine.js';
import { chartOf, clientsChartOf } from './report/chart.js';
import { type Data, generateDocument, type Section, sectionLines } from './report/document.js';

/** All benchmarks, in the order of the document. */
const benches = [...onEngines, clients, latency, bulk, tenMillion, start, idle, createPlant, slowDisk];
const USAGE = `Usage: npm run bench [-- [--quick] NAME…]

Runs all benchmarks, or those named, and writes docs/benchmarks.json and what is generated from it.
  --quick   short runs as a smoke test; writes nothing

Benchmarks: ${benches.map(({ name }) => name).join(', ')}
`;

const names = process.argv.slice(2).filter((argument) => argument !== '--quick');
const quick = process.argv.includes('--quick');
if (names.some((wanted) => benches.every(({ name }) => name !== wanted))) fail(USAGE);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const parent = mkdtempSync(join(tmpdir(), 'bench-plant-store-'));
process.once('exit', () => rmSync(parent, { recursive: true, force: true }));
const say = (text: string) => process.stderr.write(`${text}\n`);
const machine = await describeMachine(parent);
if (machine['file system'] === 'tmpfs')
  fail(`${tmpdir()} is a tmpfs, where a sync costs nothing; set TMPDIR to a folder on a disk\n`);
const sizes = quick ? { rounds: 1, loadSeconds: 2, warmUpSeconds: 1 } : { rounds: 3, loadSeconds: 8, warmUpSeconds: 2 };

for (const bench of benches.filter(({ name }) => names.length === 0 || names.includes(name))) {
  say(`${bench.name}: ${bench.title}`);
  const folder = mkdtempSync(join(parent, `${bench.name}-`));
  try {
    const section = await run(bench, { quick, ...sizes, folder, say });
    if (quick) process.stdout.write('\n**Quick run: smaller than described, and not for publication**\n');
    process.stdout.write(`\n${sectionLines(section).join('\n')}\n`);
    if (!quick) store(section);
  } catch (error) {
    say(`${bench.name}: FAILED, ${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  }
  rmSync(folder, { recursive: true });
}

/** Replaces a section of the data, and regenerates the document and the chart. */
function store(section: Section): void {
  const file = inRepository('docs/benchmarks.json');
  const before: Data = JSON.parse(readFileSync(file, 'utf8'));
  // Figures from different machines are not comparable.
  const isSame = ['processor', 'memory', 'file system'].every((fact) => before.machine[fact] === machine[fact]);
  const others = isSame ? before.sections.filter(({ bench }) => bench !== section.bench) : [];
  const orderOf = (wanted: Section) => benches.findIndex(({ name }) => name === wanted.bench);
  const data: Data = { machine, sections: [section, ...others].sort((a, b) => orderOf(a) - orderOf(b)) };
  const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value);
  writeFileSync(file, `${JSON.stringify(data, rounded, 2)}\n`);
  writeFileSync(inRepository('docs/benchmarks.md'), generateDocument(data));
  writeFileSync(inRepository('docs/benchmarks.svg'), chartOf(data));
  writeFileSync(inRepository('docs/benchmarks-clients.svg'), clientsChartOf(data));
}

function fail(message: string): never {
  process.stderr.write(message);
  process.exit(64);
}
