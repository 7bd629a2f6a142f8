import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { toPlant } from '../support/plants.js';

describe('ReadPlants', () => {
  it('reads every plant, ordered by id', async () => {
    const repository = new MemoryPlantRepository();
    const plants = [-2n, 0n, 3n, 10n].map((id) => toPlant({ id, name: 'Monstera' }));
    await repository.add(plants.toReversed());
    expect(await readPlants(new ReadPlants(repository).execute())).to.deep.equal(plants);
  });
});
