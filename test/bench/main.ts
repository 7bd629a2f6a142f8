import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benches } from './benches/index.js';
import type { Bench, Settings } from './harness/bench.js';
import { describeMachine, detectFileSystem } from './harness/machine.js';
import { installPeers } from './harness/peers.js';
import { canTrace } from './harness/syncs.js';
import { store } from './report/data.js';
import { formatSection } from './report/document.js';

const USAGE = `Usage: npm run bench [-- [--quick] [--list] NAME…]

Runs all benchmarks, or those named, and writes docs/benchmarks.json, .md and .svg.
  --quick   short runs as a smoke test; writes nothing
  --list    list the benchmarks
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, list: { type: 'boolean' }, help: { type: 'boolean' } },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.help) process.stdout.write(USAGE);
else if (values.list) for (const { name, about } of benches) process.stdout.write(`${name.padEnd(14)} ${about}\n`);
else await measure(select(positionals), values.quick === true);

function select(names: readonly string[]): readonly Bench[] {
  const unknown = names.filter((name) => benches.every((bench) => bench.name !== name));
  if (unknown.length > 0) {
    process.stderr.write(`unknown benchmark: ${unknown.join(', ')}\n\n${USAGE}`);
    process.exit(64);
  }
  return names.length === 0 ? benches : benches.filter(({ name }) => names.includes(name));
}

async function measure(chosen: readonly Bench[], quick: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-plant-store-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  if (detectFileSystem(folder) === 'tmpfs') {
    process.stderr.write(`${tmpdir()} is a tmpfs, where a sync costs nothing; set TMPDIR to a folder on a disk\n`);
    process.exit(78);
  }
  installPeers(say);
  if (!canTrace) say('strace cannot trace system calls on this machine; SQLite syncs are not counted');
  const machine = await describeMachine(folder);
  const sizes = quick
    ? { rounds: 1, loadSeconds: 2, warmUpSeconds: 1 }
    : { rounds: 3, loadSeconds: 8, warmUpSeconds: 2 };
  const settings: Settings = { quick, ...sizes, folder, say };
  for (const bench of chosen) {
    const missing = await bench.missing?.();
    if (missing !== undefined) {
      say(`${bench.name}: skipped, ${missing}`);
      continue;
    }
    say(`${bench.name}: ${bench.about}`);
    const section = await bench.run(settings).catch((error: unknown) => {
      say(`${bench.name}: FAILED, ${error instanceof Error ? error.stack : error}`);
      process.exitCode = 1;
    });
    if (section === undefined) continue;
    const date = new Date().toISOString().slice(0, 10);
    process.stdout.write(
      `\n${quick ? '**Quick run, not for publication**\n\n' : ''}${formatSection(bench.name, date, section)}\n`,
    );
    if (!quick) store({ ...section, bench: bench.name, date }, machine);
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
