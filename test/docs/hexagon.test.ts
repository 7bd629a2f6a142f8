import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { importsIn } from '../support/imports.js';
import { inRepository } from '../support/paths.js';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');

/** Files that the picture draws as another one. */
const DRAWN_AS: Readonly<Record<string, string>> = {
  'create-plants': 'create-plant',
  'create-plants-use-case': 'create-plant-use-case',
  'plant-storage': 'plant-repository',
};

/** Returns the name of a box: the folder of an adapter, or a use case or port, such as `CreatePlant`. */
function toBox(path: string): string | undefined {
  const [, adapter, file] = /^\/(?:adapters\/\w+\/([\w-]+)|core\/(?:ports\/\w+\/)?([\w-]+))/.exec(path) ?? [];
  // Every file uses these.
  if (adapter || ['index', 'plant', 'errors'].includes(file ?? '')) return adapter;
  return (DRAWN_AS[file ?? ''] ?? file)?.replaceAll(/(?:^|-)\w/g, (start) => start.replace('-', '').toUpperCase());
}

it('docs/hexagon.svg has a box for each adapter, use case and port, and an arrow for each import between them', () => {
  const imports = [...importsIn('/core'), ...importsIn('/adapters')];
  const behindIndex = imports.filter(({ from }) => from === '/core/index.ts').map(({ to }) => to);
  const exportersOf = (name: string) =>
    behindIndex.filter((path) =>
      RegExp(`^export (type|interface|class|const|function) ${name}\\b`, 'm').test(read(`${path}.ts`)),
    );
  const arrows = imports.flatMap(({ from, to, names }) => {
    const targets = to === '/core/index' ? names.flatMap(exportersOf) : [to];
    return targets.map((target) => [toBox(from), toBox(target)] as const);
  });
  const expected = new Set([
    ...[...imports.map(({ from }) => toBox(from)), ...arrows.flat()].filter((box) => box !== undefined),
    ...arrows.filter(([from, to]) => from && to && from !== to).map((ends) => ends.join(' → ')),
  ]);
  const titles = read('docs/hexagon.svg').matchAll(/<title>(\S+|\S+ → \S+)<\/title>/g);
  // A decorator is drawn around its port, without an arrow.
  const drawn = new Set([...titles].flatMap(([, title = '']) => [title, ...title.split(' → ')]));
  expect([...drawn], 'docs/hexagon.svg is drawn by hand').to.have.members([...expected]);
});
