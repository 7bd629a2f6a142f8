import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** Product files without a test of their name, and why. */
const WITHOUT_TEST: Readonly<Record<string, string>> = {
  '/adapters/driven/knex/dialect.ts': 'a type',
  '/adapters/driven/knex/standby.ts': 'test/system/standby.test.ts runs it with a server that waits for a standby',
  '/adapters/driving/api/request-log.ts': 'types',
  '/adapters/driving/koa/context.ts': 'types, and a response that the tests of the middlewares read',
  '/composition/services.ts': 'identifiers with a type',
  '/composition/version.ts': 'a constant',
  '/composition/cli/main.ts': 'the entry point of the process; what it calls has a test',
};

/** Tests that mirror no file, and why. */
const WITHOUT_FILE: Readonly<Record<string, string>> = {
  '/adapters/driven/knex/engines.test.ts': 'what SQLite and the servers share',
  '/adapters/driven/knex/servers.test.ts': 'what the servers share',
};

const read = (path: string) => readFileSync(inRepository(path.slice(1)), 'utf8');
/** Returns the TypeScript files in a folder, such as `/core`. */
const filesIn = (folder: string) => {
  const names = readdirSync(inRepository(folder.slice(1)), { recursive: true, encoding: 'utf8' });
  const isSource = (name: string) => name.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(name);
  return names.filter(isSource).map((name) => `${folder}/${name}`);
};
const isDeclaration = (path: string) => /\/index\.ts$|\.d\.ts$|^\/core\/ports\//.test(path);

describe('The tests mirror the product:', () => {
  const files = ['/core', '/adapters', '/composition'].flatMap(filesIn);

  it('a file with behaviour has a test of its name, unless the list says why not', () => {
    const untested = files.filter(
      (path) => !isDeclaration(path) && !existsSync(inRepository(`test${path.replace('.ts', '.test.ts')}`)),
    );
    expect(untested).to.have.members(Object.keys(WITHOUT_TEST));
  });

  it('a test has a file of its name, unless the list says why not', () => {
    const tests = ['/core', '/adapters', '/composition'].flatMap((folder) => filesIn(`/test${folder}`));
    const paths = tests.filter((path) => path.endsWith('.test.ts')).map((path) => path.slice('/test'.length));
    const others = paths.filter((path) => !files.some((file) => file.replace(/(\.d)?\.ts$/, '.test.ts') === path));
    expect(others).to.have.members(Object.keys(WITHOUT_FILE));
  });
});

describe('Titles of tests', () => {
  it('are literals, which a search finds', () => {
    const assembled = filesIn('/test').filter((path) => /\b(it|describe)\(\s*`[^`]*\$\{/.test(read(path)));
    expect(assembled).to.deep.equal([]);
  });
});
