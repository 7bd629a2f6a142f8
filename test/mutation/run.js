// Mutates the compiled code of each area and runs the tests that reach each mutant. Fails if a mutant survives that they
// killed when killed.txt was accepted. Usage: npm run mutation -- [--accept] [PATH …]
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/** The folders of the tests of each folder. */
const AREAS = {
  core: ['core', 'adapters/driving/api', 'adapters/driven/batching'],
  'adapters/driving/api': ['adapters/driving/api', 'adapters/driving/ndjson'],
  'adapters/driving/http': ['adapters/driving/koa', 'examples'],
  'adapters/driving/koa': ['adapters/driving/koa'],
  'adapters/driving/ndjson': ['adapters/driving/ndjson'],
  'adapters/driven/batching': ['adapters/driven/batching'],
  'adapters/driven/jwt': ['adapters/driven/jwt'],
  'adapters/driven/knex': ['adapters/driven/knex', 'composition'],
  'adapters/driven/memory': ['adapters/driven/memory', 'core'],
  'adapters/driven/monitoring': ['adapters/driven/monitoring', 'adapters/driven/knex'],
  'adapters/driven/static-token': ['adapters/driven/static-token'],
};
/** Code and tests of other tiers, generated code, and code of the browser. */
const EXCLUDED =
  /knex\/(mysql|postgres|server|servers(-tls)?\.test|node-sqlite|node-sqlite-worker)\.js$|openapi-document\.js$|docs-page\//;
/** Files whose tests run concurrently, or other processes, so that it is not known which of them reaches a mutant. */
const CONCURRENT = /(timeouts|sqlite-files)\.test\.js$/;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { accept: { type: 'boolean' } } });
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const sandbox = mkdtempSync(join(tmpdir(), 'mutation-'));
process.chdir(sandbox);
process.once('exit', () => rmSync(sandbox, { recursive: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const selected = positionals.length === 0 ? Object.keys(AREAS) : positionals;
const isSelected = (mutant) => selected.some((path) => mutant.startsWith(path));
const areas = Object.entries(AREAS).filter(
  ([area]) => isSelected(area) || selected.some((path) => path.startsWith(area)),
);
const mutants = await instrument();
const runs = await findRuns();
const equivalent = readList('equivalent.txt');
const survivors = new Set();
await inParallel([...mutants], async ([id, mutant]) => {
  if (await isKilled(id)) return;
  survivors.add(mutant);
  if (!equivalent.includes(mutant)) console.log(`${runs.get(id).length > 0 ? 'survived ' : 'unreached'} ${mutant}`);
});
report();

/** Copies the compiled code, with all mutants in it, each behind a switch. Returns the mutants by their number. */
async function instrument() {
  for (const name of readdirSync(here('../..'))) if (name !== 'dist') symlinkSync(join(here('../..'), name), name);
  cpSync(here('../../dist'), 'dist', { recursive: true });
  const originals = areas
    .flatMap(([area]) => listFiles(`dist/${area}`, '.js'))
    .filter((path) => isSelected(path.slice('dist/'.length)))
    .map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }));
  const logger = new Proxy({}, { get: () => () => false });
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const result = await new Instrumenter(logger).instrument(originals, options);
  for (const { name, content } of result.files) writeFileSync(name, content);

  const counts = new Map();
  return new Map(
    result.mutants.map(({ id, fileName, location: { start, end }, replacement }) => {
      const { content } = originals.find(({ name }) => name === fileName);
      const lines = content.split('\n').slice(start.line, end.line + 1);
      lines.push(lines.pop().slice(0, end.column));
      lines[0] = lines[0].slice(start.column);
      const change = `${fileName.slice('dist/'.length)}: ${lines.join('\n')} → ${replacement}`.replaceAll(/\s+/g, ' ');
      // The same change at another place of the file gets the next number.
      const count = (counts.get(change) ?? 0) + 1;
      counts.set(change, count);
      return [id, count === 1 ? change : `${change} #${count}`];
    }),
  );
}

/** Runs each test file. Returns, for each mutant, the files with tests that reach it, and the durations of these tests. */
async function findRuns() {
  const found = new Map([...mutants.keys()].map((id) => [id, []]));
  const files = new Set(
    areas.flatMap(([, folders]) => folders.flatMap((folder) => listFiles(`dist/test/${folder}`, '.test.js'))),
  );
  await inParallel([...files], async (file) => {
    const coverage = `${file}.json`;
    const run = () => mocha([file], { COVERAGE: coverage });
    let { code, output } = await run();
    // On a busy machine.
    if (code !== 0) ({ code, output } = await run());
    if (code !== 0) throw new Error(`${file} fails without a mutant:\n${output}`);
    const { static: always = {}, perTest = {}, durations, cpuSeconds } = JSON.parse(readFileSync(coverage, 'utf8'));
    for (const [id, reaching] of found) {
      const [, folders] = areas.find(([area]) => mutants.get(id).startsWith(`${area}/`));
      if (!folders.some((folder) => file.startsWith(`dist/test/${folder}/`))) continue;
      const isReached = Object.values(perTest).some((reached) => reached[id]);
      const isWhole = always[id] || (isReached && CONCURRENT.test(file));
      const tests = Object.entries(durations).filter(([test]) => isWhole || perTest[test]?.[id]);
      if (tests.length > 0) reaching.push({ file, tests, cpuSeconds, durationMs: sum(tests.map(([, ms]) => ms)) });
    }
  });
  return found;
}

/** Runs the tests that reach the mutant, the quickest file first, until one fails. */
async function isKilled(id) {
  const reaching = runs.get(id).sort((a, b) => a.durationMs - b.durationMs);
  if (reaching.length === 0) return false;
  const tests = `${id}.json`;
  writeFileSync(tests, JSON.stringify(Object.fromEntries(reaching.flatMap((run) => run.tests))));
  const files = reaching.map(({ file }) => file);
  const cpuSeconds = Math.ceil(5 + 3 * sum(reaching.map((run) => run.cpuSeconds)));
  const { code } = await mocha(files, { TESTS: tests, __STRYKER_ACTIVE_MUTANT__: id }, cpuSeconds);
  return code !== 0;
}

/** Runs test files in a process. Limits its CPU time, because other limits cannot end an endless loop. */
function mocha(files, env, cpuSeconds = 300) {
  const command = [process.execPath, 'node_modules/mocha/bin/mocha.js', '--require', here('hooks.js'), '--exit'];
  const options = ['--bail', '--timeout', '0', '--reporter', 'dot', ...files];
  const child = spawn('sh', ['-c', `ulimit -t ${cpuSeconds}; exec "$@"`, 'sh', ...command, ...options], {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  };
  process.once('exit', kill);
  const timer = setTimeout(kill, 300_000);
  return new Promise((resolve) => {
    child.once('exit', () => {
      kill();
      clearTimeout(timer);
      process.off('exit', kill);
    });
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** Most tests wait more than they compute. */
async function inParallel(items, run) {
  const iterator = items.values();
  const work = async () => {
    for (const item of iterator) await run(item);
  };
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, work));
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function listFiles(folder, ending) {
  const paths = readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`);
  return paths.filter((path) => path.endsWith(ending) && !EXCLUDED.test(path));
}

function readList(name) {
  return readFileSync(here(name), 'utf8').split('\n').filter(Boolean);
}

function report() {
  for (const [area] of areas) {
    const inArea = [...mutants.values()].filter((mutant) => mutant.startsWith(`${area}/`));
    const survived = inArea.filter((mutant) => survivors.has(mutant));
    const known = survived.filter((mutant) => equivalent.includes(mutant));
    console.log(`${area}: ${inArea.length} mutants, ${survived.length} survived, ${known.length} of them equivalent`);
  }
  const accepted = readList('killed.txt');
  const lost = accepted.filter((mutant) => survivors.has(mutant));
  if (lost.length > 0) console.log(`\nkilled before:\n${lost.join('\n')}`);
  if (values.accept) {
    const others = accepted.filter((mutant) => !isSelected(mutant));
    const killed = [...mutants.values()].filter((mutant) => !survivors.has(mutant));
    writeFileSync(here('killed.txt'), `${[...others, ...killed].sort().join('\n')}\n`);
  } else if (lost.length > 0) {
    process.exitCode = 1;
  }
}
