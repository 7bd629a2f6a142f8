import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { type AddOutcome, CreatePlant, type NewPlant, Plant } from '../../core/index.js';
import { readPlants } from '../contract/repository-checks.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const FICUS: NewPlant = { id: 2n, name: 'Ficus' };
const INVALID: NewPlant = { id: 2n ** 63n, name: '\0' };

/** Creates in an empty store, and their outcomes. */
const CREATES = [
  { plant: INVALID, outcome: Plant.from(INVALID) },
  { plant: MONSTERA, outcome: { kind: 'created', plant: toPlant(MONSTERA) } },
  { plant: FICUS, outcome: { kind: 'created', plant: toPlant(FICUS) } },
  { plant: { ...MONSTERA, name: 'Ficus' }, outcome: { kind: 'id-conflict' } },
  { plant: { ...FICUS, tag: '' }, outcome: { kind: 'id-conflict' } },
  { plant: { ...MONSTERA }, outcome: { kind: 'already-stored', plant: toPlant(MONSTERA) } },
];

describe('CreatePlant', () => {
  let repository: MemoryPlantRepository;
  let createPlant: CreatePlant;
  beforeEach(() => {
    repository = new MemoryPlantRepository();
    createPlant = new CreatePlant(repository);
  });
  const expectStored = async () =>
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS].map(toPlant));

  it('execute stores and returns the plant, or returns why it does not', async () => {
    for (const { plant, outcome } of CREATES) expect(await createPlant.execute(plant)).to.deep.equal(outcome);
    await expectStored();
  });

  it('executeAll returns one outcome per plant, in order, and stores only the created plants', async () => {
    const outcomes = await createPlant.executeAll(CREATES.map(({ plant }) => plant));
    expect(outcomes).to.deep.equal(CREATES.map(({ outcome }) => outcome));
    await expectStored();
  });

  it('does not call the storage if no plant is valid', async () => {
    await repository.close();
    expect(await createPlant.execute(INVALID)).to.have.property('kind', 'invalid');
    expect(await createPlant.executeAll([])).to.deep.equal([]);
  });

  it('returns the error of a plant that the storage rejects', async () => {
    const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };
    repository.add = async () => [rejected];
    expect(await createPlant.execute(MONSTERA)).to.deep.equal(rejected);
  });

  it('throws TypeError when the repository returns too few outcomes', async () => {
    repository.add = async () => [{ kind: 'added' }];
    const error = await catchError(createPlant.executeAll([MONSTERA, FICUS]));
    expect(error).to.be.instanceOf(TypeError);
    expect(error).to.have.property('message', 'PlantRepository.add must return one outcome per plant');
  });
});
