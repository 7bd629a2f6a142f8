// Mutates the compiled code of each area and runs the tests of that area. Fails if a mutant survives that they killed
// when killed.txt was accepted. Usage: npm run mutation -- [--accept] [AREA …]
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';

/** The folders of the tests of each folder. */
const AREAS = {
  core: ['core'],
  'adapters/driving/api': ['adapters/driving/api'],
  'adapters/driving/http': ['adapters/driving/koa'],
  'adapters/driving/koa': ['adapters/driving/koa'],
  'adapters/driving/ndjson': ['adapters/driving/ndjson'],
  'adapters/driven/batching': ['adapters/driven/batching'],
  'adapters/driven/jwt': ['adapters/driven/jwt'],
  'adapters/driven/knex': ['adapters/driven/knex'],
  'adapters/driven/memory': ['adapters/driven/memory'],
  'adapters/driven/monitoring': ['adapters/driven/monitoring'],
  'adapters/driven/static-token': ['adapters/driven/static-token'],
};
/** Code that only the engines and runtimes tiers execute. */
const OTHER_TIERS = ['mysql', 'postgres', 'server', 'node-sqlite', 'node-sqlite-worker'];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { accept: { type: 'boolean' } } });
const root = fileURLToPath(new URL('../../', import.meta.url));
const file = fileURLToPath(new URL('killed.txt', import.meta.url));
process.chdir(root);

const areas = Object.entries(AREAS).filter(([area]) => positionals.length === 0 || positionals.includes(area));
const accepted = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const [killed, survived] = [[], []];
for (const [area, tests] of areas) {
  const results = await new Stryker({
    mutate: [`dist/${area}/**/*.js`, ...OTHER_TIERS.map((name) => `!dist/${area}/${name}.js`)],
    testRunner: 'command',
    commandRunner: { command: `npx mocha --bail ${tests.map((folder) => `dist/test/${folder}`).join(' ')}` },
    concurrency: availableParallelism(),
    ignorePatterns: ['/docs/api', '/test/bench', '/test/interop', '/test/mutation', '/test-reports'],
    tsconfigFile: 'none',
    reporters: ['progress-append-only'],
    tempDirName: 'dist/.stryker',
    // Busy machines are slow.
    timeoutMS: 15_000,
  }).runMutationTest();
  const counts = new Map();
  for (const { fileName, location, replacement, status } of results) {
    if (status === 'Ignored') continue;
    const change =
      `${relative(`${root}dist`, fileName)}: ${originalOf(fileName, location)} → ${replacement}`.replaceAll(
        /\s+/g,
        ' ',
      );
    // The same change at another place of the file gets the next number.
    const count = (counts.get(change) ?? 0) + 1;
    counts.set(change, count);
    (status === 'Survived' ? survived : killed).push(count === 1 ? change : `${change} #${count}`);
  }
}

for (const mutant of survived) console.log(`survived  ${mutant}`);
console.log(`${killed.length} killed, ${survived.length} survived`);
const lost = accepted.filter((mutant) => survived.includes(mutant));
if (values.accept) {
  const others = accepted.filter((mutant) => !areas.some(([area]) => mutant.startsWith(`${area}/`)));
  writeFileSync(
    file,
    [...others, ...killed]
      .sort()
      .map((mutant) => `${mutant}\n`)
      .join(''),
  );
} else if (lost.length > 0) {
  console.log(`\nkilled before:\n${lost.join('\n')}`);
  process.exitCode = 1;
}

/** Returns the code that a mutant replaces. Lines and columns start at 1. */
function originalOf(path, { start, end }) {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join('\n');
}
