import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const locked: Readonly<Record<string, Locked>> = JSON.parse(read('package-lock.json')).packages;
const document = read('docs/dependencies.md');

describe('docs/dependencies.md', () => {
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
