import { expect } from 'chai';
import { it } from 'mocha';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { CreatePlant } from 'plant-store/core';

it('creates a plant', async () => {
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const outcome = await createPlant.execute({ id: 1n, name: 'Monstera', tag: 'indoor' });
  expect(outcome.kind).to.equal('created');
});
