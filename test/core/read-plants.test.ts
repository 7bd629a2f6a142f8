import { MAX_PLANT_ID, MIN_PLANT_ID, type PlantId, ReadPlants } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { stubRepository } from './stub-repository.js';

describe('ReadPlants', () => {
  const ids = [MIN_PLANT_ID, -1n, 0n, 1n, MAX_PLANT_ID];
  const plants = ids.map((id) => toPlant({ id, name: 'Monstera' }));
  const readPlants = new ReadPlants(stubRepository([], plants));
  /** Reads the ids of every batch, and empties each batch, as a caller may. */
  const read = async (after?: PlantId, batchSize?: number) => {
    const batches: PlantId[][] = [];
    for await (const batch of readPlants.execute(after, batchSize)) {
      batches.push(batch.map(({ id }) => id));
      Reflect.set(batch, 'length', 0);
    }
    return batches;
  };

  it('reads every plant, in batches of up to a given size', async () => {
    expect(await read()).to.deep.equal([ids]);
    expect(await read(undefined, 2)).to.deep.equal([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });

  it('reads the plants after an id, which may be outside int64', async () => {
    expect(await read(-2n)).to.deep.equal([ids.slice(1)]);
    expect(await read(-1n)).to.deep.equal([ids.slice(2)]);
    for (const after of [MIN_PLANT_ID - 1n, -(2n ** 64n)]) expect(await read(after)).to.deep.equal([ids]);
    for (const after of [MAX_PLANT_ID, 2n ** 64n]) expect(await read(after)).to.deep.equal([]);
  });

  it('rejects a position that is no bigint, and a size that would end the reading early', async () => {
    for (const after of ['5', null])
      expect(await catchError(read(JSON.parse(JSON.stringify(after))))).to.be.instanceOf(TypeError);
    for (const batchSize of [0, 1.5, Number.NaN])
      expect(await catchError(read(0n, batchSize))).to.be.instanceOf(RangeError);
  });
});
