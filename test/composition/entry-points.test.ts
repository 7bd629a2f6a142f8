import { expect } from 'chai';
import { describe, it } from 'mocha';

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
