import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describe, it } from 'mocha';

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

describe('docs/dependencies.md', () => {
  const document = read('docs/dependencies.md');
  const manifest = JSON.parse(read('package.json'));
  const locked: [string, Locked][] = Object.entries(JSON.parse(read('package-lock.json')).packages);
  const installed = locked.filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer);
  const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

  it('says of each dependency of the package why it is there', () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const rows = [...document.matchAll(/^\| `([^`]+)` \| [^|]{10,} \|/gm)].map(([, name]) => name);
    expect(rows).to.have.members(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }));
  });

  it('lists everything that is installed with the service', () => {
    const tree = document.slice(document.indexOf('## The whole tree'), document.lastIndexOf('\n['));
    const names = [...tree.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(names).to.have.members([...new Set(installed.map(([path]) => nameOf(path)))]);
  });

  it('names what runs a program while it is installed', () => {
    const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    const named = /runs a program while it is installed: ([^.]*?), which/.exec(document)?.[1] ?? '';
    expect([...named.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).to.have.members(running);
  });
});
