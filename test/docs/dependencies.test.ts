import { existsSync, readFileSync } from 'node:fs';
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

const { dependencies, optionalDependencies, peerDependencies, devDependencies, scripts, allowScripts } = JSON.parse(
  read('package.json'),
);
const everything = lockedIn('');
const installed = everything.filter(([, { dev }]) => !dev);

describe('docs/dependencies.md', () => {
  const document = read('docs/dependencies.md');

  it('lists every dependency with its purpose, locked version, release, maintainer and replacement', () => {
    const row = /^\| `([^`]+)` \| ([\d.]+) \| [^|]{9,} \| \d{4}-\d\d-\d\d \| [^|]{9,} \| [^|]{9,} \|$/gm;
    const documented = [...document.matchAll(row)].map(([, name, version]) => `${name} ${version}`);
    const versions = new Map(everything.map(([path, { version }]) => [path, version]));
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    expect(documented).to.have.members(names.map((name) => `${name} ${versions.get(`node_modules/${name}`)}`));
  });

  it('counts the packages of each installation', () => {
    const rows = document.matchAll(/^\| `(npm ci[^`]*)`: [^|]+\| (\d+) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, command, count]) => [command, Number(count)]));
    const required = installed.filter(([, { optional, devOptional }]) => !optional && !devOptional);
    expect(documented).to.deep.equal({
      'npm ci --omit=dev': installed.length,
      'npm ci --omit=dev --omit=optional': required.length,
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
  it('has no development dependency that only the interop tests use', () => {
    const imports = ['core', 'adapters', 'composition', 'docs', 'test']
      .flatMap(importsIn)
      .filter(({ from }) => !from.startsWith('/test/interop/'));
    const code = [...imports.map(({ to }) => to), ...Object.values<string>(scripts), read('build.js')].join('\n');
    const locked = new Map(everything);
    const isUsed = (name: string) => {
      const programs = Object.keys(locked.get(`node_modules/${name}`)?.bin ?? {});
      return [name.replace('@types/', ''), ...programs].some((word) => code.includes(word));
    };
    const unused = Object.keys(devDependencies).filter((name) => !(name in peerDependencies || isUsed(name)));
    expect(unused).to.deep.equal([]);
  });

  it('lists in allowScripts every installed package that runs a script during installation', () => {
    const folders = Object.keys(JSON.parse(read('node_modules/.package-lock.json')).packages);
    const running = folders.filter((folder) => {
      if (existsSync(inRepository(`${folder}/binding.gyp`))) return true;
      // The list contains packages for other platforms, which are not installed.
      if (!existsSync(inRepository(`${folder}/package.json`))) return false;
      const own = JSON.parse(read(`${folder}/package.json`)).scripts ?? {};
      return ['preinstall', 'install', 'postinstall'].some((script) => script in own);
    });
    // An installation may omit optional packages.
    expect(Object.keys(allowScripts)).to.include.members(running.map(nameOf));
  });
});
