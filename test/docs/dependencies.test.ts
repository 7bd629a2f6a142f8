import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { importsIn } from './imports.js';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

/** Returns the packages that `npm ci` installs in a folder on Linux x64 with glibc, with their paths. */
function lockedIn(folder: string): [string, Locked][] {
  const locked: [string, Locked][] = Object.entries(JSON.parse(read(`${folder}package-lock.json`)).packages);
  const isFor = (names: readonly string[] | undefined, name: string) => names?.includes(name) ?? true;
  return locked.filter(
    ([path, { os, cpu, libc }]) => path !== '' && isFor(os, 'linux') && isFor(cpu, 'x64') && isFor(libc, 'glibc'),
  );
}

describe('docs/dependencies.md', () => {
  const document = read('docs/dependencies.md');
  const manifest = JSON.parse(read('package.json'));
  const everything = lockedIn('');
  const installed = everything.filter(([, { dev }]) => !dev);

  it('lists every dependency of the package with its purpose, release, maintainer and replacement', () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const row = /^\| `([^`]+)` \| [\d.]+ \| [^|]{9,} \| \d{4}-\d\d-\d\d \| [^|]{9,} \| [^|]{9,} \|$/gm;
    const rows = [...document.matchAll(row)].map(([, name]) => name);
    expect(rows).to.have.members(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }));
  });

  it('lists the locked version of each of them', () => {
    const rows = [...document.matchAll(/^\| `([^`]+)` \| ([\d.]+) \|/gm)];
    const documented = rows.map(([, name, version]) => [`node_modules/${name}`, version]);
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const direct = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    const locked = everything.filter(([path]) => direct.includes(path.replace('node_modules/', '')));
    expect(documented).to.have.deep.members(locked.map(([path, { version }]) => [path, version]));
  });

  it('counts the packages of each installation', () => {
    const rows = document.matchAll(/^\| `(npm ci[^`]*)`: [^|]+\| (\d+) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, command, count]) => [command, Number(count)]));
    expect(documented).to.deep.equal({
      'npm ci --omit=dev': installed.length,
      'npm ci --omit=dev --omit=optional': installed.filter(
        ([, { optional, devOptional }]) => !optional && !devOptional,
      ).length,
      'npm ci': everything.length,
      'npm ci --prefix test/interop': lockedIn('test/interop/').length,
      'npm ci --prefix test/bench/peers': lockedIn('test/bench/peers/').length,
    });
  });

  it('names every package with an install script', () => {
    const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    const named = /runs a program while it is installed: ([^.]*?), which/.exec(document)?.[1] ?? '';
    expect([...named.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).to.have.members(running);
  });
});

describe('package.json', () => {
  const { scripts, devDependencies, peerDependencies } = JSON.parse(read('package.json'));
  const locked = new Map(lockedIn(''));

  it('has no development dependency that only the interop tests use', () => {
    const imports = ['core', 'adapters', 'composition', 'docs', 'test']
      .flatMap(importsIn)
      .filter(({ from }) => !from.startsWith('/test/interop/'));
    const code = [...imports.map(({ to }) => to), ...Object.values<string>(scripts), read('build.js')].join('\n');
    const isUsed = (name: string) => {
      const programs = Object.keys(locked.get(`node_modules/${name}`)?.bin ?? {});
      return [name.replace('@types/', ''), ...programs].some((word) => code.includes(word));
    };
    const unused = Object.keys(devDependencies).filter((name) => !(name in peerDependencies || isUsed(name)));
    expect(unused).to.deep.equal([]);
  });
});
