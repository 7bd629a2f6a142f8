import { type AddOutcome, CreatePlant, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toPlant } from '../support/plants.js';
import { StubRepository } from './stub-repository.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const plant = toPlant(MONSTERA);
const other = toPlant({ id: 1n, name: 'Ficus' });
const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };

describe('CreatePlant', () => {
  for (const [title, added, outcome] of [
    ['returns an added plant as created', { kind: 'added' }, { kind: 'created', plant }],
    [
      'returns already-stored for the same plant',
      { kind: 'conflict', stored: plant },
      { kind: 'already-stored', plant },
    ],
    ['returns id-conflict for another plant with the id', { kind: 'conflict', stored: other }, { kind: 'id-conflict' }],
    ['returns the error of a plant that the storage rejects', rejected, rejected],
  ] as const)
    it(title, async () => {
      const repository = new StubRepository([added]);
      expect(await new CreatePlant(repository).execute(MONSTERA)).to.deep.equal(outcome);
      expect(repository.batches).to.deep.equal([[plant]]);
    });

  it('returns why a plant is invalid, without calling the repository', async () => {
    const invalid: NewPlant = { id: 2n ** 63n, name: '\0' };
    const repository = new StubRepository([]);
    expect(await new CreatePlant(repository).execute(invalid)).to.deep.equal(Plant.from(invalid));
    expect(repository.batches).to.deep.equal([]);
  });
});
