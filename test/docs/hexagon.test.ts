import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** What these files import: modules, types in JSDoc, and the ports that a port extends. */
const IMPORT = /^import\b[^;]*;|\bimport\(.*|(?<=^export interface PlantRepository extends ).*/gm;

it('The arrows of docs/hexagon.svg are the imports of the code', () => {
  const read = (path: string) => readFileSync(inRepository(path), 'utf8');
  const picture = read('docs/hexagon.svg');
  const titlesOf = (kind: string) =>
    [...picture.matchAll(RegExp(`"${kind}"><title>(.*?)<`, 'g'))].map(([, title]) => `${title}`);

  const files = [
    ['plugin', 'docs/examples/plugins/read-plants.js'],
    ['PlantRepository', 'core/ports/driven/plant-repository.ts'],
  ];
  for (const side of ['adapters/driving', 'adapters/driven'])
    for (const path of readdirSync(inRepository(side), { recursive: true, encoding: 'utf8' }))
      if (path.endsWith('.ts')) files.push([path.replace(/\/.*/, ''), `${side}/${path}`]);
  const outside = [...titlesOf('outside'), ...titlesOf('adapter'), ...titlesOf('decorator')];
  const adapters = outside.map((title) => title.replace(/ .*/, ''));
  expect([...adapters, 'PlantRepository']).to.have.members([...new Set(files.map(([name]) => name))]);

  for (const useCase of titlesOf('use-case'))
    files.push([useCase, `core/${useCase.replace('Plant', '-plant').toLowerCase()}.ts`]);
  const arrows = new Set<string>();
  for (const [name = '', path = ''] of files) {
    const imports = read(path).match(IMPORT)?.join('\n') ?? '';
    for (const [, adapter] of imports.matchAll(/'\.\.\/([\w-]+)\//g)) arrows.add(`${name} → ${adapter}`);
    for (const port of titlesOf('port'))
      if (RegExp(`\\b(Open)?${port}\\b`).test(imports)) arrows.add(`${name} → ${port}`);
  }
  expect([...titlesOf('arrow'), ...titlesOf('decorator')]).to.have.members([...arrows]);
});
