import { type AddOutcome, CreatePlant, type NewPlant, Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toPlant } from '../support/plants.js';
import { stubRepository } from './stub-repository.js';

const MONSTERA: NewPlant = { id: 1n, name: 'Monstera', tag: 'indoor' };
const plant = toPlant(MONSTERA);
const rejected: AddOutcome = { kind: 'rejected', error: new Error('no cacti') };

describe('CreatePlant', () => {
  it('returns whether the plant was created, is already stored, has the id of another one, or is rejected', async () => {
    for (const [added, outcome] of [
      [{ kind: 'added' }, { kind: 'created', plant }],
      [
        { kind: 'conflict', stored: plant },
        { kind: 'already-stored', plant },
      ],
      [{ kind: 'conflict', stored: toPlant({ id: 1n, name: 'Ficus' }) }, { kind: 'id-conflict' }],
      [rejected, rejected],
    ] as const) {
      const repository = stubRepository([added]);
      expect(await new CreatePlant(repository).execute(MONSTERA), outcome.kind).to.deep.equal(outcome);
      expect(repository.batches).to.deep.equal([[plant]]);
    }
  });

  it('returns why a plant is invalid, without calling the repository', async () => {
    const invalid: NewPlant = { id: 2n ** 63n, name: '\0' };
    const repository = stubRepository([]);
    expect(await new CreatePlant(repository).execute(invalid)).to.deep.equal(Plant.from(invalid));
    expect(repository.batches).to.deep.equal([]);
  });
});
