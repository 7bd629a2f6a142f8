import { expect } from 'chai';
import { describe, it } from 'mocha';
/** What a package that embeds this one imports, and one thing of each that it needs. */
const ENTRY_POINTS = {
    'plant-store/core': 'CreatePlant',
    'plant-store/adapters/koa': 'createApp',
    'plant-store/adapters/knex': 'KnexPlantRepository',
    'plant-store/adapters/memory': 'MemoryPlantRepository',
    'plant-store/adapters/static-token': 'StaticTokenVerifier',
    'plant-store/adapters/jwt': 'JwtVerifier',
    'plant-store/composition': 'createContainer',
    'plant-store/contract': 'plantRepositoryContract',
};
describe('The package', () => {
    for (const [entryPoint, name] of Object.entries(ENTRY_POINTS)) {
        it(`offers ${name} of ${entryPoint}`, async () => {
            expect(await import(entryPoint)).to.have.property(name);
        });
    }
    it('offers nothing of its insides', async () => {
        const error = await import('plant-store/dist/core/plant.js').catch((reason) => reason);
        expect(error).to.have.property('code', 'ERR_PACKAGE_PATH_NOT_EXPORTED');
    });
});
//# sourceMappingURL=entry-points.test.js.map