import { expect } from 'chai';
import { describe, it } from 'mocha';
import { importsIn } from '../support/imports.js';

describe('The dependency rule', () => {
  const imports = ['core', 'adapters', 'composition', 'test'].flatMap(importsIn);
  const importsOf = (...folders: string[]) =>
    imports.filter(({ from }) => folders.some((folder) => isIn(folder, from)));

  it('finds imports of files and of packages in the core, the adapters and composition', () => {
    expect(imports.map(({ from, to }) => ({ from, to }))).to.deep.include.members([
      { from: '/core/create-plant.ts', to: '/core/plant' },
      { from: '/adapters/driving/api/plant-codec.ts', to: '/core/index' },
      { from: '/adapters/driven/knex/migrations.ts', to: 'knex' },
      { from: '/composition/container.ts', to: 'reflect-metadata' },
      { from: '/adapters/driven/logging/logger.ts', to: 'pino-pretty' },
    ]);
  });

  it('the core imports nothing from outside its folder', () => {
    expect(importsOf('/core').filter(({ to }) => !isIn('/core', to))).to.deep.equal([]);
  });

  it('adapters import the core, their own folder and the index.ts of adapters on their side only', () => {
    const outside = importsOf('/adapters').filter(({ from, to }) => {
      const [, , side] = from.split('/');
      const isSameSide = RegExp(`^/adapters/${side}/[\\w-]+/index$`).test(to);
      return to.startsWith('/') && to !== '/core/index' && !isSameSide && !isIn(adapterOf(from), to);
    });
    expect(outside).to.deep.equal([]);
  });

  it('adapters/driving/http imports no framework', () => {
    const packages = importsOf('/adapters/driving/http').filter(({ to }) => !/^(\/|node:)/.test(to));
    expect(packages.map(({ to }) => to)).to.deep.equal(['content-type']);
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
    const others = importsOf('/test/core').filter(
      ({ to }) => isIn('/adapters', to) && to !== '/adapters/driven/memory/index',
    );
    expect(others).to.deep.equal([]);
  });
});

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Returns the folder of an adapter: `/adapters/driving/koa` for `/adapters/driving/koa/router.ts`. */
function adapterOf(path: string): string {
  return path.split('/').slice(0, 4).join('/');
}
