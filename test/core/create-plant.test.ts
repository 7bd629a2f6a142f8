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
  [{ id: 1, name: 'x' }, 'id must be a bigint'],
  [{ id: '1', name: 'x' }, 'id must be a bigint'],
  [{ id: 1.5, name: 'x' }, 'id must be a bigint'],
  [{ id: null, name: 'x' }, 'id must be a bigint'],
  [{ id: Object(1n), name: 'x' }, 'id must be a bigint'],
  [{ name: 'x' }, 'id must be a bigint'],
  [{ id: 1n, name: new String('x') }, 'name must be a string'],
  [{ id: 1n, name: 7 }, 'name must be a string'],
  [{ id: 1n }, 'name must be a string'],
  [{ id: 1n, name: 'x', tag: null }, 'tag must be a string'],
  [{ id: 1n, name: 'x', tag: ['x'] }, 'tag must be a string'],
  [{ id: 1, name: null, tag: 1n }, 'id must be a bigint', 'name must be a string', 'tag must be a string'],
  [{ id: 2n ** 63n, name: 1 }, PLANT_ID_MESSAGE, 'name must be a string'],
  [null, 'id must be a bigint', 'name must be a string'],
  [undefined, 'id must be a bigint', 'name must be a string'],
  [7, 'id must be a bigint', 'name must be a string'],
  ['x', 'id must be a bigint', 'name must be a string'],
];

describe('CreatePlant.execute', () => {
  let repository: MemoryPlantRepository;
  let createPlant: CreatePlant;
  beforeEach(() => {
    repository = new MemoryPlantRepository();
    createPlant = new CreatePlant(repository);
  });

  it('stores and returns the plant', async () => {
    const outcome = await createPlant.execute(MONSTERA);
    expect(outcome).to.deep.equal({ kind: 'created', plant: toPlant(MONSTERA) });
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA].map(toPlant));
  });

  it('returns already-stored for an identical plant', async () => {
    await createPlant.execute(MONSTERA);
    const outcome = await createPlant.execute({ ...MONSTERA });
    expect(outcome).to.deep.equal({ kind: 'already-stored', plant: toPlant(MONSTERA) });
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA].map(toPlant));
  });

  for (const [what, other] of [
    ['a different name', { ...MONSTERA, name: 'Ficus' }],
    ['a different tag', { ...MONSTERA, tag: 'outdoor' }],
    ['no tag', { id: MONSTERA.id, name: MONSTERA.name }],
  ] as const) {
    it(`returns id-taken for the same id with ${what}, and changes nothing`, async () => {
      await createPlant.execute(MONSTERA);
      expect(await createPlant.execute(other)).to.deep.equal({ kind: 'id-taken' });
      expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA].map(toPlant));
    });
  }

  it('returns the violations of an invalid plant, and stores nothing', async () => {
    const outcome = await createPlant.execute(INVALID);
    expect(outcome).to.deep.equal(Plant.from(INVALID));
    expect(await readPlants(repository.readAll())).to.deep.equal([]);
  });

  for (const [index, [newPlant, ...messages]] of WRONG_TYPES.entries()) {
    it(`rejects wrong types and stores nothing: ${messages.join(', ')} (${index + 1})`, async () => {
      const outcome = await callUntyped(createPlant, 'execute', newPlant);
      expect(messagesOf(outcome)).to.deep.equal(messages);
      expect(await readPlants(repository.readAll())).to.deep.equal([]);
    });
  }

  it('returns the error of a plant that the storage rejects', async () => {
    const error = new PlantRejected('no cacti');
    const outcome = await new CreatePlant(repositoryReturning([{ kind: 'rejected', error }])).execute(MONSTERA);
    expect(outcome).to.deep.equal({ kind: 'rejected', error });
  });

  it('throws StorageUnavailable when the storage is closed', async () => {
    await repository.close();
    expect(await catchError(createPlant.execute(MONSTERA))).to.be.instanceOf(StorageUnavailable);
  });

  for (const outcomes of [[], [null], [{}], [{ kind: 'stored' }]]) {
    it(`throws TypeError when the repository returns ${JSON.stringify(outcomes)}`, async () => {
      const work = new CreatePlant(repositoryReturning(outcomes)).execute(MONSTERA);
      expect(await catchError(work)).to.be.instanceOf(TypeError);
    });
  }
});

describe('CreatePlant.executeAll', () => {
  let repository: MemoryPlantRepository;
  let createPlant: CreatePlant;
  beforeEach(() => {
    repository = new MemoryPlantRepository();
    createPlant = new CreatePlant(repository);
  });

  it('stores every plant', async () => {
    const outcomes = await createPlant.executeAll([FICUS, MONSTERA]);
    expect(outcomes).to.deep.equal([FICUS, MONSTERA].map((plant) => ({ kind: 'created', plant: toPlant(plant) })));
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS].map(toPlant));
  });

  it('returns one outcome per plant, in order, and stores only the created plants', async () => {
    await createPlant.execute(MONSTERA);
    const aloe: NewPlant = { id: 3n, name: 'Aloe' };
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
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS, aloe].map(toPlant));
  });

  it('reports the wrong types of each plant, and stores the others', async () => {
    const batch = [MONSTERA, ...WRONG_TYPES.map(([newPlant]) => newPlant), FICUS];
    const outcomes = await callUntyped(createPlant, 'executeAll', batch);
    expect(outcomes).to.be.an('array').with.lengthOf(batch.length);
    const [first, ...others] = Array.isArray(outcomes) ? outcomes : [];
    const last = others.pop();
    expect([first, last]).to.deep.equal([MONSTERA, FICUS].map((plant) => ({ kind: 'created', plant: toPlant(plant) })));
    expect(others.map(messagesOf)).to.deep.equal(WRONG_TYPES.map(([, ...messages]) => messages));
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS].map(toPlant));
  });

  it('returns an outcome for a hole in a sparse array', async () => {
    const batch: NewPlant[] = [MONSTERA];
    batch[2] = FICUS;
    const outcomes = await createPlant.executeAll(batch);
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['created', 'invalid', 'created']);
  });

  for (const [what, notAnArray] of [
    ['undefined', undefined],
    ['null', null],
    ['a number', 1],
    ['a string', 'ab'],
    ['a plant', MONSTERA],
    ['a Set', new Set([MONSTERA])],
    ['an array-like object', { length: 1, 0: MONSTERA }],
  ] as const) {
    it(`throws TypeError for ${what}, and stores nothing`, async () => {
      const error = await catchError(callUntyped(createPlant, 'executeAll', notAnArray));
      expect(error).to.be.instanceOf(TypeError).with.property('message', 'newPlants must be an array');
      expect(await readPlants(repository.readAll())).to.deep.equal([]);
    });
  }

  it('stores the first of several plants with the same id', async () => {
    const outcomes = await createPlant.executeAll([MONSTERA, MONSTERA, { ...MONSTERA, tag: '' }]);
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['created', 'already-stored', 'id-taken']);
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA].map(toPlant));
  });

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
