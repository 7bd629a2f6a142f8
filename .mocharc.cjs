const { existsSync } = require('node:fs');

/** Test files that need a database server. */
const onServers = ['adapters/driven/knex/{postgres,mysql,server-connection}*', 'examples/order-with-plant*'];

/**
 * The test files of each tier, by folder; `npm test` runs the tier `test`. Files or folders on the command line replace
 * them: `npx mocha dist/test/core/plant.test.js` runs that file alone. CONTRIBUTING.md describes the tiers.
 */
const tiers = {
  unit: [
    'core',
    'adapters/driven/{batching,memory,static-token}',
    'adapters/driving/api',
    'adapters/driving/ndjson/lines*',
  ],
  test: ['composition', 'adapters', 'core', 'contract-mutants', 'docs', 'examples', 'bench'],
  engines: ['adapters/driven/knex/{engines,rows,schema,join-transaction}*', ...onServers],
  system: ['system'],
  sqlite: ['adapters/driven/knex', 'system/faults/sqlite*', 'composition/cli/commands*'],
  interop: ['interop'],
  cluster: ['cluster'],
};
/** The files in these folders that belong to another tier. */
const otherTiers = { test: onServers, sqlite: onServers };

const tier = process.env.TEST_TIER ?? 'test';
const paths = process.argv.slice(2).filter((argument) => /(^|=|\/)test\//.test(argument));
const source = paths.find((path) => path.endsWith('.ts'));
if (source) throw new Error(`name the compiled file: dist/${source.replace(/\.ts$/, '.js')}`);
if (!existsSync('dist/test'))
  throw new Error('there are no compiled tests here; run npm run build in the repository first');

const pattern = (path) => `dist/test/${path.endsWith('*') ? `${path}.test.js` : `${path}/**/*.test.js`}`;
// Maximum number of test files at once, on two cores; many tests wait for a process or a timeout.
const jobs = { test: 4, engines: 2, system: 3, sqlite: 2, interop: 3 }[tier] ?? 1;
const parallel = jobs > 1 && paths.length === 0;
// Files on the command line run on every engine that is available; test/support/engines.ts reads this.
if (paths.length === 0) process.env.TEST_TIER = tier;

module.exports = {
  spec: paths.length > 0 ? [] : tiers[tier].map(pattern),
  ignore: paths.length > 0 ? [] : (otherTiers[tier] ?? []).map(pattern),
  require: ['dist/test/support/hooks.js'],
  reporter: 'dist/test/support/reporter.js',
  // Long, because the machine may be busy.
  timeout: 120_000,
  // CI runs on busy machines. A test that passes at the second attempt is reported; mend it.
  retries: process.env.CI ? 1 : 0,
  // For folders on the command line.
  recursive: true,
  'forbid-only': true,
  // In parallel mode mocha would expect a test of each file.
  'fail-zero': !parallel,
  parallel,
  jobs,
};
