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

  it('of the core declares no dependency', () => {
    const { dependencies, optionalDependencies, peerDependencies, devDependencies } = readManifest('core');
    expect({ ...dependencies, ...optionalDependencies, ...peerDependencies, ...devDependencies }).to.deep.equal({});
  });

  it('of the adapters declares optional peers in any version but of Knex, and the service installs them', () => {
    for (const [name, range] of Object.entries(thirdParties)) {
      expect(range, name).to.equal(name === 'knex' ? '>=3.3.0' : '*');
      expect(adapters.peerDependenciesMeta, name).to.have.deep.property(name, { optional: true });
    }
    const { dependencies, optionalDependencies, peerDependencies } = service;
    const installed = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    expect(installed).to.include.keys(Object.keys(thirdParties));
  });
});
