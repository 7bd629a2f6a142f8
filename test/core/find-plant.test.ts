import { FindPlant, MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { stubRepository } from './stub-repository.js';

describe('FindPlant', () => {
  const plants = [MIN_PLANT_ID, 1n, MAX_PLANT_ID].map((id) => toPlant({ id, name: 'Monstera' }));
  const findPlant = new FindPlant(stubRepository([], plants));

  it('finds the plant that has the id', async () => {
    for (const plant of plants) expect(await findPlant.execute(plant.id)).to.equal(plant);
    expect(await findPlant.execute(2n)).to.equal(undefined);
  });

  it('finds nothing outside int64, without calling the repository, and rejects an id that is no bigint', async () => {
    const find = () => expect.fail('called');
    const outside = new FindPlant({ ...stubRepository([]), find });
    for (const id of [MIN_PLANT_ID - 1n, MAX_PLANT_ID + 1n]) expect(await outside.execute(id)).to.equal(undefined);
    expect(await catchError(outside.execute(JSON.parse('1')))).to.be.instanceOf(TypeError);
  });
});
