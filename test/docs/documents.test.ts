import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors } from '../../adapters/driving/api/index.js';
import { settings } from '../../composition/config.js';
import { section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

/** A marker, such as `<!-- quote core/plant.ts: static from( … } -->`, and the code block after it. */
const QUOTE = /<!-- quote (\S+): .+? -->\n```\w+\n(.*?)```\n/gs;

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const withoutIndentation = (text: string) => text.replaceAll(/^ +/gm, '');

describe('README.md', () => {
  const readme = read('README.md');

  for (const [, file = '', code = ''] of readme.matchAll(QUOTE)) {
    it(`quotes ${file}`, () => {
      const isCurrent = withoutIndentation(read(file)).includes(withoutIndentation(code));
      expect(isCurrent, `README.md quotes code that is not in ${file}:\n${code}`).to.equal(true);
    });
  }

  it('has every setting, with its default', () => {
    const rows = readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, variable, value]) => [variable, value]));
    const toText = (value: string | undefined) => (value === undefined ? 'none' : `\`${value}\``);
    const defaults = Object.values(settings).map((setting) => [setting.variable, toText(setting.default)]);
    expect(documented).to.deep.equal(Object.fromEntries(defaults));
  });
});

it('docs/http-api.md has every error number of the code, and no other', () => {
  const rows = section('docs/http-api.md', 'Errors').matchAll(/^\| (\d{5}) \|/gm);
  const numbers = Object.values(apiErrors).map(({ error }) => error);
  expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
  const named = section('docs/http-api.md', 'HTTP API').matchAll(/\b[1-5]\d{4}\b/g);
  expect(numbers).to.include.members([...named].map(([error]) => Number(error)));
});

describe('docs/dependencies.md', () => {
  const document = read('docs/dependencies.md');
  const manifest = JSON.parse(read('package.json'));
  const locked: Readonly<Record<string, Locked>> = JSON.parse(read('package-lock.json')).packages;

  it('lists every dependency with its locked version', () => {
    const rows = document.matchAll(/^\| `([^`]+)` \| ([\d.]+) \|/gm);
    const documented = [...rows].map(([, name, version]) => `${name} ${version}`);
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    expect(documented).to.have.members(names.map((name) => `${name} ${locked[`node_modules/${name}`]?.version}`));
  });

  it('names the packages of the service that run a script during installation; allowScripts names all', () => {
    const running = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
    const namesOf = (packages: typeof running) => packages.map(([path]) => path.replace(/^.*node_modules\//, ''));
    const [, named = ''] = /runs a program while it is installed: ([^.]*?), which/.exec(document) ?? [];
    const ofService = namesOf(running.filter(([, { dev }]) => !dev));
    expect([...named.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).to.have.members(ofService);
    expect(Object.keys(manifest.allowScripts)).to.have.members(namesOf(running));
  });
});
