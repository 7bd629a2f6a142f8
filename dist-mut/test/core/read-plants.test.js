import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { CreatePlant, ReadPlants, StorageUnavailable } from '../../core/index.js';
describe('Reading the plants', () => {
    it('yields every plant, ascending by id', async () => {
        const repository = new MemoryPlantRepository();
        await new CreatePlant(repository).executeAll([3n, -2n, 10n, 0n].map((id) => ({ id, name: `plant ${id}` })));
        const plants = await read(repository);
        expect(plants.map(({ id, name }) => ({ id, name }))).to.deep.equal([-2n, 0n, 3n, 10n].map((id) => ({ id, name: `plant ${id}` })));
    });
    it('yields nothing from an empty store', async () => {
        expect(await read(new MemoryPlantRepository())).to.deep.equal([]);
    });
    it('throws StorageUnavailable where the storage does', async () => {
        const repository = new MemoryPlantRepository();
        await repository.close();
        const [result] = await Promise.allSettled([read(repository)]);
        expect(result).to.have.property('reason').that.is.instanceOf(StorageUnavailable);
    });
});
async function read(repository) {
    const plants = [];
    for await (const batch of new ReadPlants(repository).execute())
        plants.push(...batch);
    return plants;
}
//# sourceMappingURL=read-plants.test.js.map