// Mutates the compiled code of a folder or file, runs the tests that reach each mutant, and prints the mutants that survive.
// Usage: npm run mutation -- PATH [TESTS…], such as: npm run mutation -- core core adapters/driving/api
// TESTS are folders or files in test/; by default the folder that mirrors PATH.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/** Generated code, and code of the browser. */
const EXCLUDED = /api\/description\.js$|docs-page\//;
/** Maximum duration of a test, on a busy machine. */
const TEST_TIMEOUT_MS = 10_000;
/** Maximum processor time of a test file, for endless loops. */
const MAX_CPU_SECONDS = 60;

const [path, ...testPaths] = process.argv.slice(2);
const root = join(import.meta.dirname, '../..');
if (path === undefined) throw new Error('name a folder or file, such as adapters/driven/jwt');

// The mutants are in a copy of the compiled code.
const sandbox = mkdtempSync(join(tmpdir(), 'mutation-'));
process.chdir(sandbox);
process.once('exit', () => rmSync(sandbox, { recursive: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const copied = ['dist', 'core', 'adapters'];
for (const name of copied) cpSync(join(root, name), name, { recursive: true });
mkdirSync('node_modules');
link('.', (name) => ![...copied, 'node_modules'].includes(name));
link('node_modules', (name) => name !== '@plant-store');
// These links lead to the copy.
const links = { recursive: true, verbatimSymlinks: true };
cpSync(join(root, 'node_modules/@plant-store'), 'node_modules/@plant-store', links);

const compiled = /^(core|adapters)\b/.test(path) ? path.replace(/^\w+/, '$&/dist') : `dist/${path}`;
const mutants = await instrument(listFiles(compiled, '.js'));
const mirror = path.endsWith('.js') ? dirname(path) : path;
const tests = (testPaths.length > 0 ? testPaths : [mirror]).flatMap((each) =>
  listFiles(`dist/test/${each}`, '.test.js'),
);
/** For each mutant, the test files that reach it, the quickest first. */
const reaching = new Map(mutants.map(({ id }) => [id, []]));
await inParallel(tests, async (file) => {
  const began = performance.now();
  if (await fails(file, { COVERAGE: `${file}.json` })) throw new Error(`${file} fails without a mutant`);
  const durationMs = performance.now() - began;
  for (const id of JSON.parse(readFileSync(`${file}.json`, 'utf8'))) reaching.get(id)?.push({ file, durationMs });
});
for (const files of reaching.values()) files.sort((a, b) => a.durationMs - b.durationMs);

let survivors = 0;
await inParallel(mutants, async ({ id, change }) => {
  for (const { file } of reaching.get(id)) if (await fails(file, { __STRYKER_ACTIVE_MUTANT__: id })) return;
  survivors++;
  console.log(`${reaching.get(id).length > 0 ? 'survived ' : 'unreached'} ${change}`);
});
console.log(`${survivors} of ${mutants.length} mutants of ${path} survived ${tests.length} test files`);

/** Links the entries of a folder of the repository into that of the sandbox. */
function link(folder, isLinked) {
  for (const name of readdirSync(join(root, folder)))
    if (isLinked(name)) symlinkSync(join(root, folder, name), join(folder, name));
}

/** Writes all mutants into the files, each behind a switch. Returns them, each with its id and its change of the code. */
async function instrument(names) {
  const originals = names.map((name) => ({ name, content: readFileSync(name, 'utf8'), mutate: true }));
  const logger = new Proxy({}, { get: () => () => false });
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const result = await new Instrumenter(logger).instrument(originals, options);
  for (const { name, content } of result.files) writeFileSync(name, content);
  return result.mutants.map(({ id, fileName, location: { start, end }, replacement }) => {
    const { content } = originals.find(({ name }) => name === fileName);
    const lines = content.split('\n').slice(start.line, end.line + 1);
    lines.push(lines.pop().slice(0, end.column));
    lines[0] = lines[0].slice(start.column);
    const change = `${lines.join('\n')} → ${replacement}`.replaceAll(/\s+/g, ' ');
    return { id, change: `${fileName.replace('dist/', '')}:${start.line + 1}: ${change}` };
  });
}

/** Runs a test file in a process, until a test fails. */
function fails(file, environment) {
  const mocha = [process.execPath, 'node_modules/mocha/bin/mocha.js', '--require', 'test/mutation/hooks.js'];
  const options = ['--exit', '--bail', '--timeout', `${TEST_TIMEOUT_MS}`, '--reporter', 'dot', file];
  const child = spawn('sh', ['-c', `ulimit -t ${MAX_CPU_SECONDS}; exec "$@"`, 'sh', ...mocha, ...options], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  });
  /** Kills the programs that the tests started, too. */
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All have exited.
    }
  };
  process.once('exit', kill);
  const timer = setTimeout(kill, 5 * MAX_CPU_SECONDS * 1000);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      kill();
      clearTimeout(timer);
      process.off('exit', kill);
      resolve(code !== 0);
    });
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

function listFiles(path, ending) {
  const paths = statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true }).map((name) => join(path, name));
  return paths.filter((each) => each.endsWith(ending) && !EXCLUDED.test(each));
}
