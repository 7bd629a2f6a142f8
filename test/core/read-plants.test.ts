import { ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toPlant } from '../support/plants.js';
import { StubRepository } from './stub-repository.js';

describe('ReadPlants', () => {
  it('reads the batches of the repository', async () => {
    const plants = [1n, 2n].map((id) => toPlant({ id, name: 'Monstera' }));
    const batches: unknown[] = [];
    for await (const batch of new ReadPlants(new StubRepository([], plants)).execute()) batches.push(batch);
    expect(batches).to.deep.equal([plants]);
  });
});
