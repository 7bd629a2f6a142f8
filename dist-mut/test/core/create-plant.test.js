import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { CreatePlant, Plant, PlantRefused, ReadPlants, StorageUnavailable } from '../../core/index.js';
const MONSTERA = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS = { id: 2n, name: 'Ficus', tag: undefined };
const INVALID = { id: 2n ** 63n, name: '\0' };
describe('Creating a plant', () => {
    let repository;
    let createPlant;
    beforeEach(() => {
        repository = new MemoryPlantRepository();
        createPlant = new CreatePlant(repository);
    });
    it('stores it and returns it', async () => {
        const outcome = await createPlant.execute(MONSTERA);
        expect(outcome).to.deep.equal({ kind: 'created', plant: Plant.from(MONSTERA) });
        expect(await stored(repository)).to.deep.equal([MONSTERA]);
    });
    it('again tells that the very same plant is already stored', async () => {
        await createPlant.execute(MONSTERA);
        const outcome = await createPlant.execute({ ...MONSTERA });
        expect(outcome).to.deep.equal({ kind: 'already-stored', plant: Plant.from(MONSTERA) });
        expect(await stored(repository)).to.deep.equal([MONSTERA]);
    });
    for (const [what, other] of [
        ['another name', { ...MONSTERA, name: 'Ficus' }],
        ['another tag', { ...MONSTERA, tag: 'outdoor' }],
        ['a tag, where it has none itself', { id: MONSTERA.id, name: MONSTERA.name }],
    ]) {
        it(`under the id of a plant with ${what} tells that the id is taken, and changes nothing`, async () => {
            await createPlant.execute(MONSTERA);
            expect(await createPlant.execute(other)).to.deep.equal({ kind: 'id-taken' });
            expect(await stored(repository)).to.deep.equal([MONSTERA]);
        });
    }
    it('that breaks rules tells which, and stores nothing', async () => {
        const outcome = await createPlant.execute(INVALID);
        expect(outcome).to.deep.equal({ kind: 'invalid', violations: Plant.from(INVALID) });
        expect(await stored(repository)).to.deep.equal([]);
    });
    it('that the storage refuses hands on why', async () => {
        const error = new PlantRefused('no cacti');
        const outcome = await new CreatePlant(repositoryReturning([{ kind: 'refused', error }])).execute(MONSTERA);
        expect(outcome).to.deep.equal({ kind: 'refused', error });
    });
    it('throws StorageUnavailable where the storage does', async () => {
        await repository.close();
        expect(await errorOf(createPlant.execute(MONSTERA))).to.be.instanceOf(StorageUnavailable);
    });
    it('fails where a broken repository returns no outcome', async () => {
        const work = new CreatePlant(repositoryReturning([])).execute(MONSTERA);
        expect(await errorOf(work)).to.be.instanceOf(TypeError);
    });
});
describe('Creating many plants', () => {
    let repository;
    let createPlant;
    beforeEach(() => {
        repository = new MemoryPlantRepository();
        createPlant = new CreatePlant(repository);
    });
    it('stores all of them', async () => {
        const outcomes = await createPlant.executeAll([FICUS, MONSTERA]);
        expect(outcomes).to.deep.equal([FICUS, MONSTERA].map((plant) => ({ kind: 'created', plant: Plant.from(plant) })));
        expect(await stored(repository)).to.deep.equal([MONSTERA, FICUS]);
    });
    it('has an outcome for each in their order, and one that fails leaves its neighbours alone', async () => {
        await createPlant.execute(MONSTERA);
        const aloe = { id: 3n, name: 'Aloe', tag: undefined };
        const batch = [INVALID, FICUS, { ...MONSTERA, name: 'Ficus' }, INVALID, MONSTERA, aloe];
        const outcomes = await createPlant.executeAll(batch);
        expect(outcomes.map(({ kind }) => kind)).to.deep.equal([
            'invalid',
            'created',
            'id-taken',
            'invalid',
            'already-stored',
            'created',
        ]);
        expect(await stored(repository)).to.deep.equal([MONSTERA, FICUS, aloe]);
    });
    it('with one id takes the first', async () => {
        const outcomes = await createPlant.executeAll([MONSTERA, MONSTERA, { ...MONSTERA, tag: '' }]);
        expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['created', 'already-stored', 'id-taken']);
        expect(await stored(repository)).to.deep.equal([MONSTERA]);
    });
    it('does nothing where there are none', async () => {
        expect(await createPlant.executeAll([])).to.deep.equal([]);
    });
    it('throws StorageUnavailable where the storage does', async () => {
        await repository.close();
        expect(await errorOf(createPlant.executeAll([MONSTERA, FICUS]))).to.be.instanceOf(StorageUnavailable);
    });
    it('fails where a broken repository returns too few outcomes', async () => {
        const work = new CreatePlant(repositoryReturning([{ kind: 'added' }])).executeAll([MONSTERA, FICUS]);
        expect(await errorOf(work)).to.be.instanceOf(TypeError);
    });
});
/** A repository that stores nothing and always has the same outcomes. */
function repositoryReturning(outcomes) {
    const repository = new MemoryPlantRepository();
    repository.add = async () => outcomes;
    return repository;
}
async function stored(repository) {
    const plants = [];
    for await (const batch of new ReadPlants(repository).execute())
        plants.push(...batch.map((plant) => ({ ...plant })));
    return plants;
}
async function errorOf(work) {
    return work.then((value) => expect.fail(`expected an error, got ${value}`), (error) => error);
}
//# sourceMappingURL=create-plant.test.js.map