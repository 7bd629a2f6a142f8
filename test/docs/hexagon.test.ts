import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** What a file imports: modules, types in JSDoc, and the ports that a port extends. */
const IMPORT = /^import\b[^;]*;|\bimport\(.*|(?<=^export interface PlantRepository extends ).*/gm;
/** The files behind the boxes: the plugins are those that read, and a port extends others. */
const FILES = ['adapters/*.ts', 'docs/examples/plugins/*-plant*', ':(glob)core/*-plant*', 'core/ports/driven/plant-*'];

it('The arrows of docs/hexagon.svg are the imports of the code', () => {
  const read = (path: string) => readFileSync(inRepository(path), 'utf8');
  const picture = read('docs/hexagon.svg');
  const titlesOf = (kind: string) =>
    [...picture.matchAll(RegExp(`"${kind}"><title>(.*?)<`, 'g'))].map(([, title]) => `${title}`);
  const [ports, useCases] = [titlesOf('port'), titlesOf('use-case')];

  /** Returns the name of the box that a file belongs to. */
  const toBox = (path: string) => {
    const [, box = 'PlantRepository'] =
      /^adapters\/\w+\/(.*?)\/|^docs\/examples\/(plugin)s/.exec(path)?.filter(Boolean) ?? [];
    return useCases.find((name) => path === `core/${name.replace('Plant', '-plant').toLowerCase()}.ts`) ?? box;
  };
  const arrows = new Set<string>();
  const files = execFileSync('git', ['ls-files', ...FILES], { cwd: inRepository(''), encoding: 'utf8' });
  for (const path of files.trim().split('\n')) {
    const imports = read(path).match(IMPORT)?.join('\n') ?? '';
    for (const [, adapter] of imports.matchAll(/'\.\.\/([\w-]+)\//g)) arrows.add(`${toBox(path)} → ${adapter}`);
    for (const port of ports) if (RegExp(`\\b(Open)?${port}\\b`).test(imports)) arrows.add(`${toBox(path)} → ${port}`);
  }
  expect([...titlesOf('arrow'), ...titlesOf('decorator')]).to.have.members([...arrows]);
});
