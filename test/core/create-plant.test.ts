import { type AddOutcome, CreatePlant, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toPlant } from '../support/plants.js';
import { StubRepository } from './stub-repository.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const plant = toPlant(MONSTERA);
const execute = (outcome: AddOutcome) => new CreatePlant(new StubRepository([outcome])).execute(MONSTERA);

describe('CreatePlant', () => {
  it('adds the plant, and returns it as created', async () => {
    const repository = new StubRepository([{ kind: 'added' }]);
    expect(await new CreatePlant(repository).execute(MONSTERA)).to.deep.equal({ kind: 'created', plant });
    expect(repository.batches).to.deep.equal([[plant]]);
  });

  it('tells whether exactly this plant is stored under the id, or another one', async () => {
    expect(await execute({ kind: 'conflict', stored: plant })).to.deep.equal({ kind: 'already-stored', plant });
    for (const other of [toPlant({ ...MONSTERA, name: 'Ficus' }), toPlant({ id: 1n, name: 'Monstera' })])
      expect(await execute({ kind: 'conflict', stored: other })).to.deep.equal({ kind: 'id-conflict' });
  });

  it('returns why a plant is invalid, without calling the repository', async () => {
    const invalid: NewPlant = { id: 2n ** 63n, name: '\0' };
    const repository = new StubRepository([]);
    expect(await new CreatePlant(repository).execute(invalid)).to.deep.equal(Plant.from(invalid));
    expect(repository.batches).to.deep.equal([]);
  });

  it('returns the error of a plant that the storage rejects', async () => {
    const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };
    expect(await execute(rejected)).to.deep.equal(rejected);
  });
});
