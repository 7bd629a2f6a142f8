// Builds, and runs tiers of tests: npm test -- engines system
// Files or folders replace the tiers: npm test -- test/core/plant.test.ts --grep int64
import { spawnSync } from 'node:child_process';

const onDatabases = ['adapters/driven/knex/@(postgres|mysql|servers)', 'examples/@(order-with-plant|sharded)'];
/** Files in test/, and how many of them run at once on two cores, because many tests wait for a process. */
const tiers = {
  unit: { jobs: 1, files: ['core/*', 'adapters/driven/@(batching|memory|static-token)/*', 'adapters/driving/api/*'] },
  test: {
    jobs: 4,
    files: ['@(adapters|composition|contract-mutants|core|docs|examples|structure)/**/*'],
    except: onDatabases,
  },
  engines: { jobs: 2, files: ['adapters/driven/knex/@(engines|rows|schema|join-transaction)', ...onDatabases] },
  // The longest first.
  system: {
    jobs: 3,
    files: ['system/@(overload|import|tutorial)', 'system/@(faults|operate)/*', 'system/!(overload|import|tutorial)'],
  },
  sqlite: {
    jobs: 2,
    files: ['adapters/driven/knex/*', 'system/faults/sqlite', 'composition/cli/@(check|export|import)'],
    except: onDatabases,
  },
  interop: { jobs: 3, files: ['interop/@(examples|install)', 'interop/!(examples|install)'], packages: 'test/interop' },
  cluster: { jobs: 1, files: ['cluster/*'] },
  container: { jobs: 1, files: ['container/*'] },
};

const words = process.argv.slice(2);
const isPath = (word) => /^(dist\/)?test\//.test(word);
const isTier = (word) => Object.hasOwn(tiers, word);
const paths = words.filter(isPath);
const options = words.filter((word) => !isPath(word) && !isTier(word));
// CI runs on busy machines. A test that passes at the second attempt is reported; mend it.
if (process.env.CI) options.push('--retries', '1');

run('node', 'build.js');
if (paths.length > 0) {
  mocha('--fail-zero', ...paths.map(toCompiled));
} else {
  const names = words.filter(isTier);
  for (const name of names.length > 0 ? names : ['test']) runTier(name);
}

function runTier(name) {
  const { jobs, files, except = [], packages } = tiers[name];
  if (packages) run('npm', 'install', '--prefix', packages);
  process.env.TEST_TIER = name;
  const toPath = (file) => `dist/test/${file}.test.js`;
  const ignored = except.flatMap((file) => ['--ignore', toPath(file)]);
  // In parallel mode, `--fail-zero` expects a test in each file.
  mocha(...(jobs > 1 ? ['--parallel', '--jobs', `${jobs}`] : ['--fail-zero']), ...ignored, ...files.map(toPath));
}

/** Returns the compiled file, or the pattern of those in a folder. */
function toCompiled(path) {
  const file = path.replace(/^(?!dist\/)/, 'dist/').replace(/\.ts$/, '.js');
  return file.endsWith('.js') ? file : `${file}/**/*.test.js`;
}

function mocha(...args) {
  run('node', '--disable-warning=ExperimentalWarning', 'node_modules/mocha/bin/mocha.js', ...options, ...args);
}

function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
