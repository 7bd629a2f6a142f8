import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PACKAGES, readManifest } from '../support/packages.js';

const service = readManifest('');
const adapters = readManifest('adapters');
const { '@plant-store/core': _, ...thirdParties } = adapters.peerDependencies ?? {};

describe('The manifests', () => {
  it('have one version, and accept it of each other', () => {
    for (const manifest of PACKAGES.map((folder) => readManifest(folder))) {
      expect(manifest.version, manifest.name).to.equal(service.version);
      const ranges = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies };
      const own = Object.entries(ranges).filter(([name]) => name.startsWith('@plant-store/'));
      for (const [name, range] of own) expect(range, `${manifest.name}: ${name}`).to.equal(`^${service.version}`);
    }
  });

  it('of all packages but the service declare peers alone: the core, and optional ones in any version but of Knex', () => {
    for (const { name, dependencies, optionalDependencies } of [
      readManifest('core'),
      adapters,
      readManifest('test/contract'),
    ])
      expect({ ...dependencies, ...optionalDependencies }, name).to.deep.equal({});
    for (const [name, range] of Object.entries(thirdParties))
      expect(range, name).to.equal(name === 'knex' ? '>=3.3.0' : '*');
    const optional = Object.keys(thirdParties).map((name) => [name, { optional: true }]);
    expect(adapters.peerDependenciesMeta).to.deep.equal(Object.fromEntries(optional));
  });

  it('of the service installs what the adapters need', () => {
    const { dependencies, optionalDependencies, peerDependencies } = service;
    const installed = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    expect(installed).to.include.keys(Object.keys(thirdParties));
  });
});
