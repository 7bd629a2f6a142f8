import type { AddOutcome, Plant } from '@plant-store/core';
import type { Cases } from '../contract.js';
import { isAvailable } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { createPlants, plant, READ_COUNTS } from '../sample-plants.js';

/** Long strings and many plants. Some engines take minutes. */
export const volumeCases: Cases<TestStorage> = {
  'stores strings of a megabyte, many of them in one batch': async ({ repository }) => {
    const large = createPlants(18).map(({ id }) => plant(id, `${id} ${'🌵'.repeat(2 ** 18)}`));
    await repository.assertStored([plant(-1n, 'Monstera', 'é'.repeat(2 ** 19)), ...large]);
  },

  // MEDIUMTEXT of MySQL ends there. A storage may have another limit, at which it rejects the plant or fails.
  'stores a string of more than 16 MB whole, or not at all': async ({ repository }) => {
    const large = plant(1n, `${'x'.repeat(2 ** 24)} end`);
    let outcomes: readonly AddOutcome[] = [];
    await isAvailable(async () => {
      outcomes = await repository.add([large]);
    });
    const stored = outcomes[0]?.kind === 'added' ? [large] : [];
    await repository.assertContent(stored);
    await repository.assertFound(stored);
  },

  // Exceeds the 65,535 parameters of one SQL statement, and the usual limits on the result of a query.
  'stores 70,000 plants in one batch': ({ repository }) => repository.assertStored(createPlants(70_000)),

  'reads every plant if the count is a common page size, or one more': async ({ repository }) => {
    const stored: Plant[] = [];
    for (const count of READ_COUNTS) {
      const more = createPlants(count - stored.length, BigInt(stored.length));
      await repository.addAll(more);
      stored.push(...more);
      await repository.assertContent(stored, `plants read of ${count}`);
    }
    for (const batchSize of [4000, 100_000])
      await repository.assertContent(stored, `plants read, up to ${batchSize} at once`, batchSize);
  },
};
