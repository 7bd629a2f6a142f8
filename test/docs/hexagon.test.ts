import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** What a file imports: modules, types in JSDoc, and the ports that a port extends. */
const IMPORT = /^import\b[^;]*;|\bimport\(.*|(?<=^export interface PlantRepository extends ).*/gm;
/** The files behind the boxes: adapters, the plugins that read, use cases, and their ports. */
const FILES = ['adapters/*.ts', 'docs/examples/plugins/*-plant*', ':(glob)core/*-plant*', 'core/ports/*plant*'];

/** Returns the name of the box that a file belongs to. */
function toBox(path: string): string {
  const [, adapter, plugin] = /^adapters\/\w+\/(.*?)\/|^docs\/examples\/(plugin)s/.exec(path) ?? [];
  return adapter ?? plugin ?? basename(path, '.ts').replace(/(?:^|-)\w/g, (start) => start.slice(-1).toUpperCase());
}

it('docs/hexagon.svg has a box for each adapter, use case and port, and an arrow for each import', () => {
  const picture = readFileSync(inRepository('docs/hexagon.svg'), 'utf8');
  const titlesOf = (kind: string) =>
    Array.from(picture.matchAll(RegExp(`"(?:${kind})"><title>(.*?)<`, 'g')), ([, title = '']) => title);
  const files = `${execFileSync('git', ['ls-files', ...FILES], { cwd: inRepository('') })}`.trim().split('\n');
  const boxes = titlesOf('adapter|outside|decorator|use-case|port').map((title) => title.replace(/ → .*/, ''));
  expect(boxes).to.include.members([...new Set(files.map(toBox))]);

  const arrows = files.flatMap((path) => {
    const imports = readFileSync(inRepository(path), 'utf8').match(IMPORT)?.join('\n') ?? '';
    const adapters = path.startsWith('adapters/') ? [...imports.matchAll(/'\.\.\/([\w-]+)\//g)] : [];
    const ports = titlesOf('port').filter((port) => RegExp(`\\b(Open)?${port}\\b`).test(imports));
    return [...adapters.map(([, adapter]) => adapter), ...ports].map((box) => `${toBox(path)} → ${box}`);
  });
  expect([...titlesOf('arrow'), ...titlesOf('decorator')]).to.have.members([...new Set(arrows)]);
});
