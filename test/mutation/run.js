// Runs tests against each small change of the compiled code of a folder or file, and prints the changes that survive:
//   npm run mutation -- PATH [TESTS…], such as: npm run mutation -- core core adapters/driving/api
// TESTS are folders or files in test/; by default the folder that mirrors PATH. Changes the code in place until it ends.
import { dirname, extname } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const [path, ...given] = process.argv.slice(2);
if (path === undefined) throw new Error('name a folder or file, such as adapters/driven/jwt');
const isFile = extname(path) !== '';
const compiled = /^(core|adapters)\b/.test(path) ? path.replace(/^\w+/, '$&/dist') : `dist/${path}`;
const tests = given.length > 0 ? given : [isFile ? dirname(path) : path];
const mocha = 'node node_modules/mocha/bin/mocha.js --require test/mutation/seed.js --extension test.js --recursive';

await new Stryker({
  testRunner: 'command',
  commandRunner: { command: `${mocha} --bail --exit ${tests.map((test) => `dist/test/${test}`).join(' ')}` },
  mutate: [isFile ? compiled : `${compiled}/**/*.js`, '!**/api/{description,is-new-plant}.js', '!**/docs-page/**'],
  // A copy would run the unchanged code, because node_modules/@plant-store links to it.
  inPlace: true,
  // TypeScript 7 has no API.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  // A busy machine is not an endless loop.
  timeoutMS: 60_000,
  plugins: [],
  reporters: ['clear-text'],
}).runMutationTest();
