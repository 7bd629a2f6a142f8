import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';

/** The entry points of the package, with one export of each. */
const ENTRY_POINTS = {
  '.': 'CreatePlant',
  './core': 'CreatePlant',
  './adapters/http': 'NodeHttpServer',
  './adapters/koa': 'createKoaServer',
  './adapters/api': 'apiErrors',
  './adapters/knex': 'KnexPlantRepository',
  './adapters/memory': 'MemoryPlantRepository',
  './adapters/batching': 'BatchingPlantRepository',
  './adapters/static-token': 'StaticTokenVerifier',
  './adapters/jwt': 'JwtVerifier',
  './composition': 'createContainer',
  './contract': 'plantRepositoryContract',
  './contract/http': 'httpContract',
};

describe('The package', () => {
  for (const [entryPoint, name] of Object.entries(ENTRY_POINTS)) {
    it(`exports ${name} from ${entryPoint}`, async () => {
      expect(await import(entryPoint.replace('.', 'plant-store'))).to.have.property(name);
    });
  }

  it('exports the OpenAPI description', async () => {
    const { default: description } = await import('plant-store/openapi.json' as string, { with: { type: 'json' } });
    expect(description).to.have.nested.property('info.title', 'Plant Store');
  });

  it('does not export internal modules', async () => {
    const error = await catchError(import('plant-store/dist/core/plant.js' as string));
    expect(error).to.have.property('code', 'ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
