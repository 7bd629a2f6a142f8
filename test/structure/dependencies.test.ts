import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Import, importsIn, importsOf } from '../support/imports.js';
import { inRepository } from '../support/paths.js';

/** What a folder may import: other folders through their `index.ts`, packages, and `node:` for what Node has built in. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  '/core': [],
  '/adapters/driven/batching': ['/core'],
  '/adapters/driven/jwt': ['/core', 'jose'],
  '/adapters/driven/knex': ['/core', 'node:', 'knex', 'sqlite3'],
  '/adapters/driven/memory': ['/core'],
  '/adapters/driven/metrics': ['/core', 'prom-client'],
  '/adapters/driven/static-token': ['/core', 'node:'],
  '/adapters/driving/api': ['/core', 'ajv', 'ajv-formats'],
  '/adapters/driving/http': ['/core', '/adapters/driving/api', 'node:'],
  '/adapters/driving/koa': ['/adapters/driving/http', 'koa', '@koa/router', 'koa-bodyparser'],
  '/adapters/driving/management': ['/adapters/driving/http', 'node:', 'koa'],
  '/adapters/driving/ndjson': ['/core', '/adapters/driving/api'],
  '/composition': [
    '/core',
    ...['batching', 'jwt', 'knex', 'memory', 'metrics', 'static-token'].map((name) => `/adapters/driven/${name}`),
    ...['api', 'http', 'koa', 'management', 'ndjson'].map((name) => `/adapters/driving/${name}`),
    ...['node:', 'inversify', 'reflect-metadata', 'pino', 'pino-pretty', 'cli-progress', 'leven'],
  ],
  '/test/contract': ['/core'],
  '/test/contract/http': ['/test/contract/contract', 'node:'],
};

/** Returns the imports that {@link ALLOWED} does not list. */
function forbidden(imports: readonly Import[]): string[] {
  return imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} imports ${to}`);
}

function isAllowed({ from, to }: Import): boolean {
  const folder = folderOf(from);
  return folder !== undefined && (folderOf(to) === folder || ALLOWED[folder]?.includes(toEntry(to)) === true);
}

/** Returns the folder in {@link ALLOWED} to which a file belongs, the innermost one. */
function folderOf(path: string): string | undefined {
  return Object.keys(ALLOWED).findLast((folder) => path.startsWith(`${folder}/`));
}

/** Returns how {@link ALLOWED} names what an import leads to. */
function toEntry(to: string): string {
  if (to.startsWith('/')) return to.replace(/\/index$/, '');
  return /^node:|^(@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to;
}

describe('Dependencies', () => {
  it('point inward, and are on the list of their folder', () => {
    const imports = ['/core', '/adapters', '/composition', '/test/contract'].flatMap(importsIn);
    expect(forbidden(imports)).to.deep.equal([]);
    // No entry of the list is superfluous.
    const used = imports.map(({ from, to }) => `${folderOf(from)} imports ${toEntry(to)}`);
    for (const [folder, entries] of Object.entries(ALLOWED))
      expect(used).to.include.members(entries.map((entry) => `${folder} imports ${entry}`));
  });

  it('on packages are declared in package.json', () => {
    const declaration = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    const declared = Object.keys({ ...declaration.dependencies, ...declaration.optionalDependencies });
    const packages = Object.values(ALLOWED)
      .flat()
      .filter((each) => !/^\/|^node:/.test(each));
    expect(declared).to.include.members(packages);
  });

  it('of every form are found: another adapter, an undeclared package, a file behind an index.ts', () => {
    const text = `import '../koa/index.js';
      export { x } from 'left-pad/lib/x.js';
      const { y } = await import('../../../core/plant.js');
      require('express');`;
    expect(forbidden(importsOf('/adapters/driving/http/body.ts', text))).to.deep.equal([
      '/adapters/driving/http/body.ts imports /adapters/driving/koa/index',
      '/adapters/driving/http/body.ts imports left-pad/lib/x.js',
      '/adapters/driving/http/body.ts imports /core/plant',
      '/adapters/driving/http/body.ts imports express',
    ]);
    expect(forbidden(importsOf('/adapters/driven/new/new.ts', "import '../../../core/index.js'"))).to.have.length(1);
  });
});
