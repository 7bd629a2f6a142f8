import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant } from '@plant-store/core';
import { assertEqual, type Cases, ContractViolation } from '../contract.js';
import { readBatches } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { createPlants, PLANTS_WITH_IDS, plant, SCATTERED_PLANTS } from '../sample-plants.js';

const isInt64 = (id: bigint) => MIN_PLANT_ID <= id && id <= MAX_PLANT_ID;

/** What `find` and `read` return. */
export const readingCases: Cases<TestStorage> = {
  'finds a plant once it was added, and nothing under a free id': async ({ repository }) => {
    const ids = PLANTS_WITH_IDS.map(({ id }) => id);
    await repository.assertFound([], ids);
    await repository.addAll(PLANTS_WITH_IDS);
    const others = ids.flatMap((id) => [id - 2n, id + 2n]).filter(isInt64);
    await repository.assertFound(PLANTS_WITH_IDS, [...ids, ...others]);
  },

  'reads the plants from an id on, whether or not a plant has it': async ({ repository }) => {
    const stored = [MIN_PLANT_ID, -3n, 0n, 9_007_199_254_740_993n, MAX_PLANT_ID].map((id) => plant(id, 'Monstera'));
    await repository.addAll(stored);
    for (const from of stored.flatMap(({ id }) => [id - 1n, id, id + 1n]).filter(isInt64)) {
      const read = await repository.read(from, 5);
      const expected = stored.filter(({ id }) => id >= from);
      assertEqual(read, expected.slice(0, Math.max(read.length, 1)), `plants from ${from} on`);
    }
  },

  'reads at most a given number of plants at once': async ({ repository }) => {
    const stored = createPlants(30);
    await repository.addAll(stored);
    for (const batchSize of [1, 7, 29, 30, 31, 100_000, 2 ** 32, Number.MAX_SAFE_INTEGER])
      await repository.assertContent(stored, `plants read in batches of ${batchSize}`, batchSize);
  },

  'reads every plant once, ordered by id, for each of several readers': async ({ repository }) => {
    await repository.addAll(SCATTERED_PLANTS);
    const batchSizes = [1000, 1000, 700, 4000];
    await Promise.all(batchSizes.map((size) => repository.assertContent(SCATTERED_PLANTS, 'plants read', size)));
  },

  'leaves batches to the reader, who may keep and modify them': async ({ repository }) => {
    const plants = createPlants(2500);
    await repository.addAll(plants);
    for (const batchSize of [1000, 5000]) {
      const batches: (readonly Plant[])[] = [];
      for await (const batch of readBatches(repository, batchSize)) batches.push(batch);
      assertEqual(batches.flat(), plants, 'plants of all batches after reading');
      for (const batch of batches)
        if (!Reflect.set(batch, 0, batch[1])) throw new ContractViolation('the array that read returned is frozen');
      await repository.assertContent(plants, 'plants read after another reader has changed its batches', batchSize);
    }
  },
};
