import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { importsIn } from '../support/imports.js';
import { PACKAGES, readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';

const service = readManifest('');
const adapters = readManifest('adapters');
const { '@plant-store/core': _, ...thirdParties } = adapters.peerDependencies ?? {};

describe('The manifests', () => {
  it('have one version, and accept it of each other', () => {
    for (const manifest of PACKAGES.map((folder) => readManifest(folder))) {
      expect(manifest.version, manifest.name).to.equal(service.version);
      const ranges = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies };
      for (const [name, range] of Object.entries(ranges))
        if (name.startsWith('@plant-store/'))
          expect(range, `${manifest.name}: ${name}`).to.equal(`^${service.version}`);
    }
  });

  it('of all packages but the service declare peers alone: the core, and optional ones in any version but of Knex', () => {
    for (const { name, dependencies = {}, optionalDependencies } of [
      readManifest('core'),
      adapters,
      readManifest('test/contract'),
    ])
      expect({ ...dependencies, ...optionalDependencies }, name).to.deep.equal({});
    const { knex, ...others } = thirdParties;
    expect(knex).to.equal('>=3.3.0');
    expect(new Set(Object.values(others))).to.deep.equal(new Set(['*']));
    const optional = Object.keys(thirdParties).map((name) => [name, { optional: true }]);
    expect(adapters.peerDependenciesMeta).to.deep.equal(Object.fromEntries(optional));
  });

  it('of the service installs what the adapters need', () => {
    const { dependencies, optionalDependencies, peerDependencies } = service;
    expect({ ...dependencies, ...optionalDependencies, ...peerDependencies }).to.include.keys(
      Object.keys(thirdParties),
    );
  });
});

describe('adapters/README.md', () => {
  it('names the packages that each entry point imports', () => {
    const rows = readFileSync(inRepository('adapters/README.md'), 'utf8').matchAll(
      /^\| `(\.\/[\w-]+)` \|[^|]*\|([^|]*)\|/gm,
    );
    const named = Array.from(rows, ([, entry, names = '']) => [
      entry,
      [...names.matchAll(/`(@?[a-z][\w/-]*)@\d+`/g)].map(([, name]) => name).sort(),
    ]);
    const expected = Object.entries(adapters.exports).map(([entry, path]) => {
      const folder = posix.join('/adapters', path.replace('/dist', ''), '..');
      // Knex itself imports the drivers of servers.
      const drivers = entry === './knex' ? ['mysql2', 'pg'] : [];
      return [entry, [...packagesOf(folder), ...drivers].sort()];
    });
    expect(named).to.deep.equal(expected);
  });
});

/** Returns the third parties that the files of a folder import, themselves or through another adapter. */
function packagesOf(folder: string, found = new Set<string>()): Set<string> {
  for (const { to } of importsIn(folder)) {
    const other = /^(\/adapters\/\w+\/[\w-]+)\/index$/.exec(to)?.[1];
    const [name = ''] = /^(@[^/]+\/)?[^/]+/.exec(to) ?? [];
    if (other !== undefined && other !== folder) packagesOf(other, found);
    else if (name in thirdParties) found.add(name);
  }
  return found;
}
