import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { importsIn } from '../support/imports.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

const ROOT = inRepository('');

describe('The dependency rule', () => {
  const imports = ['core', 'adapters', 'composition', 'test'].flatMap(importsIn);
  const importsOf = (...folders: string[]) =>
    imports.filter(({ from }) => folders.some((folder) => isIn(folder, from)));

  it('finds imports of files and of packages in the core, the adapters and composition', () => {
    expect(imports.map(({ from, to }) => ({ from, to }))).to.deep.include.members([
      { from: '/core/create-plant.ts', to: '/core/errors' },
      { from: '/adapters/api/plant-codec.ts', to: '/core/index' },
      { from: '/adapters/knex/migrations.ts', to: 'knex' },
      { from: '/composition/container.ts', to: 'reflect-metadata' },
      { from: '/composition/logger.ts', to: 'pino-pretty' },
    ]);
  });

  it('the core imports nothing from outside its folder', () => {
    expect(importsOf('/core').filter(({ to }) => !isIn('/core', to))).to.deep.equal([]);
  });

  it('adapters import the core, the API (adapters/api) and their own folder only', () => {
    const outside = importsOf('/adapters')
      .filter(({ to }) => to.startsWith('/'))
      .filter(({ from, to }) => !isIn(adapterOf(from), to))
      .filter(({ to }) => to !== '/core/index' && to !== '/adapters/api/index');
    expect(outside).to.deep.equal([]);
  });

  it('only the driving adapters import the API (adapters/api)', () => {
    const adapters = importsOf('/adapters')
      .filter(({ from, to }) => isIn('/adapters/api', to) && !isIn('/adapters/api', from))
      .map(({ from }) => adapterOf(from));
    expect(['/adapters/koa', '/adapters/ndjson']).to.include.members(adapters);
  });

  it('the core, the adapters and the contracts do not import Inversify or reflect-metadata', () => {
    const imported = importsOf('/core', '/adapters', '/test/contract').filter(({ to }) =>
      /^(inversify|reflect-metadata)/.test(to),
    );
    expect(imported).to.deep.equal([]);
  });

  it('the core, the adapters and the contracts do not import composition', () => {
    const outside = importsOf('/core', '/adapters', '/test/contract').filter(({ to }) => isIn('/composition', to));
    expect(outside).to.deep.equal([]);
  });

  it('only tests import tests', () => {
    expect(importsOf('/core', '/adapters', '/composition').filter(({ to }) => isIn('/test', to))).to.deep.equal([]);
  });

  it('the contracts import only the core; the HTTP contract imports only built-in modules of Node', () => {
    const outside = importsOf('/test/contract').filter(({ from, to }) => {
      const isAllowed = isIn('/test/contract/http', from) ? to.startsWith('node:') : to === '/core/index';
      return !isAllowed && !isIn('/test/contract', to);
    });
    expect(outside).to.deep.equal([]);
  });

  it('tests of the core use no adapter except the memory adapter', () => {
    const others = importsOf('/test/core').filter(({ to }) => isIn('/adapters', to) && to !== '/adapters/memory/index');
    expect(others).to.deep.equal([]);
  });
});

describe('The compiler confines the core to its folder:', () => {
  const folder = temporaryFolder();
  const clean = `export const plants = new Map<bigint, string>([[2n ** 63n - 1n, 'Monstera'.toWellFormed()]]);`;
  const forbiddenUses = [
    ["Node's process object", 'export const variables = process.env;', "Cannot find name 'process'"],
    ['a timer', 'setTimeout(() => {}, 1);', "Cannot find name 'setTimeout'"],
    ['a built-in module of Node', "export { readFileSync } from 'node:fs';", "'node:fs'"],
    ['a file outside its folder', "export { secret } from '../outside.js';", "outside.ts' is not"],
    ['the DOM', 'export const title = document.title;', "Cannot find name 'document'"],
    ['the network', "export const response = fetch('/plants');", "Cannot find name 'fetch'"],
  ] as const;
  let errors: string[];

  // Create a core with one file per forbidden use, and node_modules beside it, as in this repository.
  before(() => {
    mkdirSync(join(folder, 'core'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const files = {
      'package.json': '{ "type": "module" }',
      'outside.ts': 'export const secret = 1;',
      'core/tsconfig.json': JSON.stringify({
        extends: join(ROOT, 'core/tsconfig.json'),
        compilerOptions: { rootDir: '.', outDir: '../dist' },
        include: ['./**/*.ts'],
      }),
      'core/clean.ts': clean,
      ...Object.fromEntries(forbiddenUses.map(([, text], index) => [`core/${index}.ts`, text])),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--project', 'core', '--pretty', 'false'];
    errors = spawnSync(process.execPath, [compiler, ...options], { cwd: folder })
      .stdout.toString()
      .split('\n');
  });

  const errorsOf = (file: string) => errors.filter((line) => line.startsWith(`core/${file}.ts(`)).join('\n');

  it('it may use the language', () => {
    expect(errorsOf('clean')).to.equal('');
  });

  for (const [index, [what, , error]] of forbiddenUses.entries()) {
    it(`it may not use ${what}`, () => {
      expect(errorsOf(`${index}`)).to.include(error);
    });
  }
});

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Returns the folder of an adapter: `/adapters/koa` for `/adapters/koa/router.ts`. */
function adapterOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}
