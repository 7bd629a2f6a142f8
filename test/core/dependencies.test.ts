import { expect } from 'chai';
import { describe, it } from 'mocha';
import { importsIn } from '../support/imports.js';

const isIn = (folder: string, path: string) => path.startsWith(`${folder}/`);

/** What the files of a folder may import: files, such as `/core/index`, and packages. */
const RULES: readonly (readonly [rule: string, folder: string, isAllowed: (to: string, from: string) => boolean])[] = [
  ['the core imports nothing from outside its folder', '/core', (to) => isIn('/core', to)],
  [
    'adapters import the core, their own folder, the index.ts of adapters on their side and packages, but not Inversify',
    '/adapters',
    (to, from) => {
      const [, , side, adapter] = from.split('/');
      const isPackage = !/^(\/|inversify|reflect-metadata)/.test(to);
      const isIndex = RegExp(`^/adapters/${side}/[\\w-]+/index$`).test(to);
      return isPackage || to === '/core/index' || isIndex || isIn(`/adapters/${side}/${adapter}`, to);
    },
  ],
  ['shared HTTP code imports no framework', '/adapters/driving/http', (to) => /^(\/|node:|content-type$)/.test(to)],
  ['composition does not import tests', '/composition', (to) => !isIn('/test', to)],
  [
    'the contracts import only the core; the HTTP contract imports only built-in modules of Node',
    '/test/contract',
    (to, from) =>
      isIn('/test/contract', to) || (isIn('/test/contract/http', from) ? to.startsWith('node:') : to === '/core/index'),
  ],
];

describe('Dependencies point inward:', () => {
  for (const [rule, folder, isAllowed] of RULES)
    it(rule, () => {
      const imports = importsIn(folder);
      expect(imports).not.to.deep.equal([]);
      expect(imports.filter(({ from, to }) => !isAllowed(to, from))).to.deep.equal([]);
    });
});
