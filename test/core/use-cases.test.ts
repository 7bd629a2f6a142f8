import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { CreatePlant, type NewPlant, Plant, PlantRejected, ReadPlants, StorageUnavailable } from '../../core/index.js';
import { PlantRepositoryDecorator } from '../../core/ports/driven/plant-repository.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };
const ONE_OUTCOME = 'PlantRepository.add must return one outcome per plant';

/** Both methods, without type checks, as JavaScript code can call them. */
const execute = (createPlant: CreatePlant, newPlant: unknown): Promise<unknown> =>
  Reflect.apply(createPlant.execute, createPlant, [newPlant]);
const executeAll = (createPlant: CreatePlant, newPlants: unknown): Promise<unknown[]> =>
  Reflect.apply(createPlant.executeAll, createPlant, [newPlants]);

describe('CreatePlant', () => {
  let repository: MemoryPlantRepository;
  let createPlant: CreatePlant;
  beforeEach(() => {
    repository = new MemoryPlantRepository();
    createPlant = new CreatePlant(repository);
  });

  async function expectStored(...plants: readonly NewPlant[]): Promise<void> {
    expect(await readPlants(repository.readAll())).to.deep.equal(plants.map(toPlant));
  }

  describe('execute', () => {
    it('stores and returns the plant', async () => {
      const outcome = await execute(createPlant, MONSTERA);
      expect(outcome).to.deep.equal({ kind: 'created', plant: toPlant(MONSTERA) });
      await expectStored(MONSTERA);
    });

    it('returns already-stored for an identical plant, and id-taken for other strings, and changes nothing', async () => {
      await execute(createPlant, MONSTERA);
      const outcome = await execute(createPlant, { ...MONSTERA });
      expect(outcome).to.deep.equal({ kind: 'already-stored', plant: toPlant(MONSTERA) });
      expect(await execute(createPlant, { ...MONSTERA, tag: 'outdoor' })).to.deep.equal({ kind: 'id-taken' });
      await expectStored(MONSTERA);
    });

    it('returns the violations of an invalid plant, and stores nothing', async () => {
      // JavaScript code can pass anything.
      for (const invalid of [INVALID, { id: 1, name: null }, {}, undefined])
        expect(await execute(createPlant, invalid)).to.deep.equal(Reflect.apply(Plant.from, Plant, [invalid]));
      await expectStored();
    });

    it('returns the error of a plant that the storage rejects', async () => {
      const rejected = { kind: 'rejected', error: new PlantRejected('no cacti') };
      expect(await execute(createPlantWith([rejected]), MONSTERA)).to.deep.equal(rejected);
    });

    it('throws StorageUnavailable when the storage is closed', async () => {
      await repository.close();
      const error = await catchError(execute(createPlant, MONSTERA));
      expect(error).to.be.instanceOf(StorageUnavailable).with.property('message', 'the repository is closed');
    });

    it('throws TypeError when the repository does not return an outcome', async () => {
      for (const outcomes of [[], [null], [{}], [{ kind: 'stored' }]]) {
        const error = await catchError(execute(createPlantWith(outcomes), MONSTERA));
        expect(error).to.be.instanceOf(TypeError).with.property('message', ONE_OUTCOME);
      }
    });
  });

  describe('executeAll', () => {
    it('returns one outcome per plant, in order, also for holes in the array, and stores only the created plants', async () => {
      await createPlant.execute(MONSTERA);
      const aloe: NewPlant = { id: 3n, name: 'Aloe' };
      const batch = [INVALID, FICUS, { ...MONSTERA, name: 'Ficus' }, {}, MONSTERA, aloe, { ...aloe, tag: '' }];
      delete batch[3];
      expect(await executeAll(createPlant, batch)).to.deep.equal([
        Plant.from(INVALID),
        { kind: 'created', plant: toPlant(FICUS) },
        { kind: 'id-taken' },
        Reflect.apply(Plant.from, Plant, [undefined]),
        { kind: 'already-stored', plant: toPlant(MONSTERA) },
        { kind: 'created', plant: toPlant(aloe) },
        { kind: 'id-taken' },
      ]);
      await expectStored(MONSTERA, FICUS, aloe);
    });

    it('throws TypeError when the repository returns too few outcomes', async () => {
      const error = await catchError(executeAll(createPlantWith([{ kind: 'added' }]), [MONSTERA, FICUS]));
      expect(error).to.be.instanceOf(TypeError).with.property('message', ONE_OUTCOME);
    });

    it('throws TypeError for anything but an array, and stores nothing', async () => {
      for (const notAnArray of [undefined, 'ab', new Set([MONSTERA]), { length: 1, 0: MONSTERA }]) {
        const error = await catchError(executeAll(createPlant, notAnArray));
        expect(error).to.be.instanceOf(TypeError).with.property('message', 'newPlants must be an array');
      }
      await expectStored();
    });
  });
});

it('ReadPlants reads every plant, ordered by id, also through a decorator', async () => {
  const repository = new PlantRepositoryDecorator(new MemoryPlantRepository());
  const plants = [-2n, 0n, 3n, 10n].map((id) => toPlant({ id, name: `plant ${id}` }));
  await repository.add(plants.toReversed());
  expect(await readPlants(new ReadPlants(repository).execute())).to.deep.equal(plants);
});

/** Creates the use case on a repository whose `add` always returns `outcomes`. */
function createPlantWith(outcomes: readonly unknown[]): CreatePlant {
  const repository = new MemoryPlantRepository();
  Reflect.set(repository, 'add', async () => outcomes);
  return new CreatePlant(repository);
}
