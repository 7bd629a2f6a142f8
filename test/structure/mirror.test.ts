import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** Product files without a test of their name, and why. */
const WITHOUT_TEST: Readonly<Record<string, string>> = {
  'adapters/driven/knex/dialect': 'a type',
  'adapters/driven/knex/node-sqlite-driver': 'sqlite-file.test.ts tests the drivers for SQLite',
  'adapters/driven/knex/sqlite3-driver': 'sqlite-file.test.ts tests the drivers for SQLite',
  'adapters/driven/knex/standby': 'test/system/standby.test.ts runs it with a server that waits for a standby',
  'adapters/driving/api/is-new-plant': 'a declaration of code that build.js generates',
  'adapters/driving/api/request-log': 'types',
  'adapters/driving/koa/context': 'types, and a response that the tests of the middlewares read',
  'composition/services': 'identifiers with a type',
  'composition/time-limit': 'a race that the work loses in the tests of the container and health',
  'composition/version': 'a constant',
  'composition/cli/main': 'the entry point of the process; what it calls has a test',
  'composition/cli/migrate': 'check.test.ts prints the schema before and after it',
  'composition/cli/progress': 'test/system/terminal.test.ts shows it on a terminal',
  'composition/cli/with-container':
    'import.test.ts looks for the files of an open storage, export.test.ts for an error',
};

/** Returns the paths of the files in the folders of the packages, from `root` and without `extension`. */
function pathsIn(root: string, extension: string): string[] {
  return ['core', 'adapters', 'composition'].flatMap((folder) => {
    const names = readdirSync(inRepository(`${root}${folder}`), { recursive: true, encoding: 'utf8' });
    const isSource = (name: string) => name.endsWith(extension) && !/(^|\/)(dist|node_modules)\//.test(name);
    return names.filter(isSource).map((name) => `${folder}/${name.slice(0, -extension.length)}`);
  });
}

it('A file with behaviour has a test of its name, unless the list says why not', () => {
  const files = pathsIn('', '.ts').map((path) => path.replace(/\.d$/, ''));
  const tests = pathsIn('test/', '.test.ts');
  const isDeclaration = (path: string) => /\/index$|^core\/ports\//.test(path);
  const untested = files.filter((path) => !isDeclaration(path) && !tests.includes(path));
  expect(untested).to.have.members(Object.keys(WITHOUT_TEST));
});
