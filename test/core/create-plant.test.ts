import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import {
  CreatePlant,
  type NewPlant,
  PLANT_ID_MESSAGE,
  Plant,
  PlantRejected,
  StorageUnavailable,
} from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };

/** Invalid arguments of JavaScript callers, with the expected messages. */
const WRONG_TYPES: readonly (readonly [newPlant: unknown, ...messages: string[]])[] = [
  [{ id: 1, name: null, tag: 1n }, 'id must be a bigint', 'name must be a string', 'tag must be a string'],
  [{ id: 2n ** 63n, name: 1 }, PLANT_ID_MESSAGE, 'name must be a string'],
  [{}, 'id must be a bigint', 'name must be a string'],
  [undefined, 'id must be a bigint', 'name must be a string'],
];

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
      const outcome = await createPlant.execute(MONSTERA);
      expect(outcome).to.deep.equal({ kind: 'created', plant: toPlant(MONSTERA) });
      await expectStored(MONSTERA);
    });

    it('returns already-stored for an identical plant', async () => {
      await createPlant.execute(MONSTERA);
      const outcome = await createPlant.execute({ ...MONSTERA });
      expect(outcome).to.deep.equal({ kind: 'already-stored', plant: toPlant(MONSTERA) });
      await expectStored(MONSTERA);
    });

    it('returns id-taken for the same id with other strings, and changes nothing', async () => {
      await createPlant.execute(MONSTERA);
      expect(await createPlant.execute({ ...MONSTERA, tag: 'outdoor' })).to.deep.equal({ kind: 'id-taken' });
      await expectStored(MONSTERA);
    });

    it('returns the violations of an invalid plant, and stores nothing', async () => {
      expect(await createPlant.execute(INVALID)).to.deep.equal(Plant.from(INVALID));
      for (const [newPlant, ...messages] of WRONG_TYPES)
        expect(messagesOf(await callUntyped(createPlant, 'execute', newPlant))).to.deep.equal(messages);
      await expectStored();
    });

    it('returns the error of a plant that the storage rejects', async () => {
      const error = new PlantRejected('no cacti');
      const outcome = await new CreatePlant(repositoryReturning([{ kind: 'rejected', error }])).execute(MONSTERA);
      expect(outcome).to.deep.equal({ kind: 'rejected', error });
    });

    it('throws StorageUnavailable when the storage is closed', async () => {
      await repository.close();
      expect(await catchError(createPlant.execute(MONSTERA)))
        .to.be.instanceOf(StorageUnavailable)
        .with.property('message', 'the repository is closed');
    });

    for (const outcomes of [[], [null], [{}], [{ kind: 'stored' }]]) {
      it(`throws TypeError when the repository returns ${JSON.stringify(outcomes)}`, async () => {
        const work = new CreatePlant(repositoryReturning(outcomes)).execute(MONSTERA);
        expect(await catchError(work))
          .to.be.instanceOf(TypeError)
          .with.property('message', 'PlantRepository.add must return one outcome per plant');
      });
    }
  });

  describe('executeAll', () => {
    it('returns one outcome per plant, in order, and stores only the created plants', async () => {
      await createPlant.execute(MONSTERA);
      const aloe: NewPlant = { id: 3n, name: 'Aloe' };
      const batch = [INVALID, FICUS, { ...MONSTERA, name: 'Ficus' }, INVALID, MONSTERA, aloe, { ...aloe, tag: '' }];
      const invalid = Plant.from(INVALID);
      const [ficus, monstera] = [FICUS, MONSTERA].map(toPlant);
      expect(await createPlant.executeAll(batch)).to.deep.equal([
        invalid,
        { kind: 'created', plant: ficus },
        { kind: 'id-taken' },
        invalid,
        { kind: 'already-stored', plant: monstera },
        { kind: 'created', plant: toPlant(aloe) },
        { kind: 'id-taken' },
      ]);
      await expectStored(MONSTERA, FICUS, aloe);
    });

    it('reports the wrong types of each plant and of holes in the array, and stores the others', async () => {
      const batch = [MONSTERA, ...WRONG_TYPES.map(([newPlant]) => newPlant), FICUS];
      delete batch[batch.length - 2];
      const outcomes = await callUntyped(createPlant, 'executeAll', batch);
      const [first, ...others] = Array.isArray(outcomes) ? outcomes : [];
      const last = others.pop();
      const created = [MONSTERA, FICUS].map((plant) => ({ kind: 'created', plant: toPlant(plant) }));
      expect([first, last]).to.deep.equal(created);
      expect(others.map(messagesOf)).to.deep.equal(WRONG_TYPES.map(([, ...messages]) => messages));
      await expectStored(MONSTERA, FICUS);
    });

    for (const notAnArray of [undefined, 'ab', new Set([MONSTERA]), { length: 1, 0: MONSTERA }]) {
      it(`throws TypeError for ${Object.prototype.toString.call(notAnArray)}, and stores nothing`, async () => {
        const error = await catchError(callUntyped(createPlant, 'executeAll', notAnArray));
        expect(error).to.be.instanceOf(TypeError).with.property('message', 'newPlants must be an array');
        await expectStored();
      });
    }

    it('returns no outcomes for an empty array', async () => {
      expect(await createPlant.executeAll([])).to.deep.equal([]);
    });

    it('throws StorageUnavailable when the storage is closed', async () => {
      await repository.close();
      expect(await catchError(createPlant.executeAll([MONSTERA, FICUS]))).to.be.instanceOf(StorageUnavailable);
    });

    it('throws TypeError when the repository returns too few outcomes', async () => {
      const work = new CreatePlant(repositoryReturning([{ kind: 'added' }])).executeAll([MONSTERA, FICUS]);
      expect(await catchError(work)).to.be.instanceOf(TypeError);
    });
  });
});

/** Creates a repository whose `add` always returns `outcomes`. */
function repositoryReturning(outcomes: readonly unknown[]): MemoryPlantRepository {
  const repository = new MemoryPlantRepository();
  Reflect.set(repository, 'add', async () => outcomes);
  return repository;
}

/** Calls a method without type checks, as JavaScript code can. */
async function callUntyped(createPlant: CreatePlant, method: 'execute' | 'executeAll', argument: unknown) {
  const outcome: unknown = await Reflect.apply(createPlant[method], createPlant, [argument]);
  return outcome;
}

/** Returns the messages of an invalid outcome. */
function messagesOf(outcome: unknown): unknown {
  expect(outcome).to.have.property('kind', 'invalid');
  const { violations }: { violations: { message: string }[] } = Object(outcome);
  return violations.map(({ message }) => message);
}
