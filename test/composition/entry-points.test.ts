import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** What a package that embeds this one imports, and one thing of each that it needs. */
const ENTRY_POINTS = {
  './core': 'CreatePlant',
  './adapters/koa': 'createApp',
  './adapters/knex': 'KnexPlantRepository',
  './adapters/memory': 'MemoryPlantRepository',
  './adapters/batching': 'BatchingPlantRepository',
  './adapters/static-token': 'StaticTokenVerifier',
  './adapters/jwt': 'JwtVerifier',
  './composition': 'createContainer',
  './contract': 'plantRepositoryContract',
};

describe('The package', () => {
  it('has these entry points and the description, and no others', () => {
    const { exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    expect(Object.keys(exports)).to.have.members([...Object.keys(ENTRY_POINTS), './openapi.json']);
  });

  for (const [entryPoint, name] of Object.entries(ENTRY_POINTS)) {
    it(`offers ${name} of ${entryPoint}`, async () => {
      expect(await import(entryPoint.replace('.', 'plant-store'))).to.have.property(name);
    });
  }

  it('offers the description', async () => {
    const { default: description } = await import('plant-store/openapi.json' as string, { with: { type: 'json' } });
    expect(description).to.have.nested.property('info.title', 'Plant Store');
  });

  it('offers nothing of its insides', async () => {
    const error = await import('plant-store/dist/core/plant.js' as string).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
