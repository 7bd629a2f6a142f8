import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import {
  type AddOutcome,
  CreatePlant,
  type NewPlant,
  Plant,
  PlantRepositoryDecorator,
  ReadPlants,
  StorageUnavailable,
} from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };

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
      expect(await createPlant.execute(MONSTERA)).to.deep.equal({ kind: 'created', plant: toPlant(MONSTERA) });
      await expectStored(MONSTERA);
    });

    it('returns already-stored for an identical plant, and id-taken for another, and changes nothing', async () => {
      await createPlant.execute(MONSTERA);
      const outcome = await createPlant.execute({ ...MONSTERA });
      expect(outcome).to.deep.equal({ kind: 'already-stored', plant: toPlant(MONSTERA) });
      for (const other of [
        { ...MONSTERA, name: 'Ficus' },
        { ...MONSTERA, tag: 'outdoor' },
      ])
        expect(await createPlant.execute(other)).to.deep.equal({ kind: 'id-taken' });
      await expectStored(MONSTERA);
    });

    it('returns the violations of an invalid plant, and stores nothing', async () => {
      expect(await createPlant.execute(INVALID)).to.deep.equal(Plant.from(INVALID));
      await expectStored();
    });

    it('returns the error of a plant that the storage rejects', async () => {
      const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };
      expect(await createPlantWith([rejected]).execute(MONSTERA)).to.deep.equal(rejected);
    });

    it('throws StorageUnavailable when the storage is closed', async () => {
      await repository.close();
      const error = await catchError(createPlant.execute(MONSTERA));
      expect(error).to.be.instanceOf(StorageUnavailable).with.property('message', 'the repository is closed');
    });
  });

  describe('executeAll', () => {
    it('returns one outcome per plant, in order, and stores only the created plants', async () => {
      await createPlant.execute(MONSTERA);
      const aloe: NewPlant = { id: 3n, name: 'Aloe' };
      const batch = [INVALID, FICUS, { ...MONSTERA, name: 'Ficus' }, MONSTERA, aloe, { ...aloe, tag: '' }];
      expect(await createPlant.executeAll(batch)).to.deep.equal([
        Plant.from(INVALID),
        { kind: 'created', plant: toPlant(FICUS) },
        { kind: 'id-taken' },
        { kind: 'already-stored', plant: toPlant(MONSTERA) },
        { kind: 'created', plant: toPlant(aloe) },
        { kind: 'id-taken' },
      ]);
      await expectStored(MONSTERA, FICUS, aloe);
    });

    it('throws TypeError when the repository returns too few outcomes', async () => {
      const error = await catchError(createPlantWith([{ kind: 'added' }]).executeAll([MONSTERA, FICUS]));
      expect(error).to.be.instanceOf(TypeError);
      expect(error).to.have.property('message', 'PlantRepository.add must return one outcome per plant');
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
function createPlantWith(outcomes: readonly AddOutcome[]): CreatePlant {
  const repository = new PlantRepositoryDecorator(new MemoryPlantRepository());
  repository.add = async () => outcomes;
  return new CreatePlant(repository);
}
