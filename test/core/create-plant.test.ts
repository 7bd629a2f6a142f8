import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { type AddOutcome, CreatePlant, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { toPlant } from '../support/plants.js';

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

  it('stores and returns the plant, or returns why it does not', async () => {
    for (const [plant, outcome] of [
      [INVALID, Plant.from(INVALID)],
      [MONSTERA, { kind: 'created', plant: toPlant(MONSTERA) }],
      [FICUS, { kind: 'created', plant: toPlant(FICUS) }],
      [{ ...MONSTERA, name: 'Ficus' }, { kind: 'id-conflict' }],
      [{ ...FICUS, tag: '' }, { kind: 'id-conflict' }],
      [{ ...MONSTERA }, { kind: 'already-stored', plant: toPlant(MONSTERA) }],
    ] as const)
      expect(await createPlant.execute(plant)).to.deep.equal(outcome);
    expect(await readPlants(repository.readAll())).to.deep.equal([MONSTERA, FICUS].map(toPlant));
  });

  it('does not call the storage if the plant is invalid', async () => {
    await repository.close();
    expect(await createPlant.execute(INVALID)).to.have.property('kind', 'invalid');
  });

  it('returns the error of a plant that the storage rejects', async () => {
    const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };
    repository.add = async () => [rejected];
    expect(await createPlant.execute(MONSTERA)).to.deep.equal(rejected);
  });
});
