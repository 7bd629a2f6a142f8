import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Import, importsIn } from './imports.js';

const isIn = (folder: string, path: string) => path.startsWith(`${folder}/`);
/** Returns the folder of an adapter: `/adapters/driving/koa` for `/adapters/driving/koa/app.ts`. */
const adapterOf = (path: string) => path.split('/').slice(0, 4).join('/');

/** What the files of some folders may import. */
const RULES: readonly (readonly [rule: string, folders: readonly string[], isAllowed: (each: Import) => boolean])[] = [
  ['the core imports nothing from outside its folder', ['/core'], ({ to }) => isIn('/core', to)],
  [
    'adapters import the core, their own folder and the index.ts of adapters on their side only',
    ['/adapters'],
    ({ from, to }) => {
      const [, , side] = from.split('/');
      const isSameSide = RegExp(`^/adapters/${side}/[\\w-]+/index$`).test(to);
      return !to.startsWith('/') || to === '/core/index' || isSameSide || isIn(adapterOf(from), to);
    },
  ],
  [
    'adapters/driving/http imports no framework',
    ['/adapters/driving/http'],
    ({ to }) => /^(\/|node:|content-type$)/.test(to),
  ],
  [
    'the core, the adapters and the contracts import neither composition nor Inversify',
    ['/core', '/adapters', '/test/contract'],
    ({ to }) => !/^(\/composition\/|inversify|reflect-metadata)/.test(to),
  ],
  ['only tests import tests', ['/core', '/adapters', '/composition'], ({ to }) => !isIn('/test', to)],
  [
    'the contracts import only the core; the HTTP contract imports only built-in modules of Node',
    ['/test/contract'],
    ({ from, to }) =>
      isIn('/test/contract', to) || (isIn('/test/contract/http', from) ? to.startsWith('node:') : to === '/core/index'),
  ],
];

describe('The dependency rule', () => {
  const imports = ['core', 'adapters', 'composition', 'test'].flatMap(importsIn);

  for (const [rule, folders, isAllowed] of RULES) {
    it(rule, () => {
      const found = imports.filter(({ from }) => folders.some((folder) => isIn(folder, from)));
      expect(found).not.to.deep.equal([]);
      expect(found.filter((each) => !isAllowed(each))).to.deep.equal([]);
    });
  }
});
