import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { inRepository } from '../support/paths.js';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const picture = read('docs/hexagon.svg');
/** Returns the titles of a kind of elements. */
const titlesOf = (kind: string) =>
  [...picture.matchAll(RegExp(`"${kind}"><title>(.*?)<`, 'g'))].map(([, title]) => title);
const ports = titlesOf('port').map(String);

/** Returns the ports and the adapters that files import, and the ports that they extend. */
function importsOf(paths: readonly string[]): string[] {
  const statements = paths.flatMap(
    (path) => read(path).match(/^(import\b[^;]*;| \* @param \{import.*|export interface .* extends .*)$/gm) ?? [],
  );
  const text = statements.join('\n').replaceAll(/interface \w+/g, '');
  const adapters = [...text.matchAll(/'\.\.\/([\w-]+)\//g)].map(([, name]) => `${name}`);
  // An open repository is one, too.
  const isImported = (port: string) => RegExp(`\\b(Open)?${port}\\b`).test(text);
  return [...new Set(adapters), ...ports.filter(isImported)];
}

it('The arrows of docs/hexagon.svg are the imports of the code', () => {
  const sources = new Map([['plugin', ['docs/examples/plugins/read-plants.js']]]);
  for (const side of ['adapters/driving', 'adapters/driven'])
    for (const name of readdirSync(inRepository(side))) {
      const files = readdirSync(inRepository(`${side}/${name}`)).filter((file) => file.endsWith('.ts'));
      sources.set(
        name,
        files.map((file) => `${side}/${name}/${file}`),
      );
    }
  const adapters = [...titlesOf('outside'), ...titlesOf('adapter'), ...titlesOf('decorator')];
  expect(adapters.map((title) => title?.replace(/ .*/, ''))).to.have.members([...sources.keys()]);
  for (const name of titlesOf('use-case')) {
    const file = `${name}`.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
    sources.set(`${name}`, [`core/${file}.ts`]);
  }
  sources.set('PlantRepository', ['core/ports/driven/plant-repository.ts']);
  const arrows = [...sources].flatMap(([name, paths]) => importsOf(paths).map((imported) => `${name} → ${imported}`));
  const isOwn = (arrow: string) => /^(\w+) → \1$/.test(arrow);
  expect([...titlesOf('arrow'), ...titlesOf('decorator')]).to.have.members(arrows.filter((arrow) => !isOwn(arrow)));
});
