// Builds and runs the unit tests, now and after each save. Passes its arguments to mocha: a compiled test, or --grep.
import { spawnSync } from 'node:child_process';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['core', 'adapters', 'docs', 'test/core', 'test/adapters', 'test/contract', 'test/support'];
/** Delay before a run, in milliseconds, because editors save in several steps. */
const DEBOUNCE_MS = 50;

function buildAndTest() {
  const run = (script, args = [], environment = {}) =>
    spawnSync(process.execPath, [script, ...args], { stdio: 'inherit', env: { ...process.env, ...environment } })
      .status === 0;
  if (run('build.js')) run('node_modules/mocha/bin/mocha.js', process.argv.slice(2), { TEST_TIER: 'unit' });
}

let timer;
const runSoon = (_, name) => {
  if (!/\.(ts|yaml)$/.test(name ?? '')) return;
  clearTimeout(timer);
  timer = setTimeout(buildAndTest, DEBOUNCE_MS);
};
// Many editors save by renaming a new file to the old name; a recursive watcher of Node 20 then loses the file.
for (const folder of FOLDERS) {
  watch(folder, runSoon);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) watch(join(entry.parentPath, entry.name), runSoon);
}
buildAndTest();
