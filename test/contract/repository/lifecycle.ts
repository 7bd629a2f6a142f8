import { isStorageUnavailable, MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/core';
import { assertRejects, type Cases, ContractViolation } from '../contract.js';
import { assertConfidential, assertTimersEnd, isAvailable, readPlants } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { CONFIDENTIAL, createPlants, plant } from '../sample-plants.js';

/** Opening, `ready` and `close`. */
export const lifecycleCases: Cases<TestStorage> = {
  'is empty and ready after opening, and ready stores no plant': async ({ repository, open }) => {
    await repository.ready();
    await repository.ready();
    await repository.assertOutcomes([], []);
    await repository.assertContent([]);
    const stored = [MIN_PLANT_ID, -1n, 0n, 1n, MAX_PLANT_ID].map((id) => plant(id, 'Monstera'));
    await repository.addAll(stored);
    await repository.ready();
    await repository.assertContent(stored, 'plants read after ready');
    const what = 'plants in new storage (open() of the harness must open other storage each time)';
    await (await open()).assertContent([], what);
  },

  'keeps working after 130 calls of each kind': async ({ repository }) => {
    const stored = createPlants(1100);
    await repository.addAll(stored);
    // More than any usual pool has connections.
    for (let round = 0; round < 130; round++) {
      await Promise.all([
        repository.assertHolders(stored.slice(0, 1)),
        repository.ready(),
        repository.assertFound(stored.slice(0, 1)),
        readPlants(repository),
      ]);
    }
    await repository.addAll([plant(1100n, 'later')]);
  },

  'close is idempotent, and each later call throws StorageUnavailable': async ({ repository }) => {
    const calls = {
      find: () => repository.find(CONFIDENTIAL.id),
      read: () => repository.read(CONFIDENTIAL.id, 1),
      ready: () => repository.ready(),
      add: () => repository.add([CONFIDENTIAL]),
      'add of an empty batch': () => repository.add([]),
    };
    await repository.addAll([CONFIDENTIAL]);
    // A cache may remember the results.
    for (const call of [calls.ready, calls.find, calls.read]) await call();
    await Promise.all([repository.close(), repository.close()]);
    for (const [name, call] of Object.entries(calls))
      assertConfidential(await assertRejects(`${name} after close`, isStorageUnavailable, call));
  },

  'close waits for calls in flight': async ({ repository }) => {
    const stored = plant(1n, 'Monstera');
    await repository.addAll([stored]);
    let isClosed = false;
    const assertWaits = async (name: string, call: Promise<unknown>) => {
      await call;
      if (isClosed) throw new ContractViolation(`close resolved before ${name} in flight`);
    };
    const adding = createPlants(40, 2n).map((candidate) =>
      assertWaits('add', repository.assertOutcomes([plant(1n, 'Ficus'), candidate], [stored, 'added'])),
    );
    // They may throw StorageUnavailable.
    const reading = [
      assertWaits(
        'find',
        isAvailable(() => repository.find(1n)),
      ),
      assertWaits(
        'read',
        isAvailable(() => repository.read(1n, 10)),
      ),
    ];
    const closing = repository.close().then(async () => {
      // Tolerates calls that resolve in the same turn as close.
      for (let turn = 0; turn < 1000; turn++) await undefined;
      isClosed = true;
    });
    await Promise.all([...adding, ...reading, closing]);
  },

  'find and read in flight during close return every plant or throw StorageUnavailable': async ({ repository }) => {
    const plants = createPlants(2500);
    await repository.addAll(plants);
    await repository.assertCompleteOrUnavailable(plants, async (readRest) => {
      const reading = readRest();
      const finding = isAvailable(() => repository.assertFound(plants.slice(0, 1)));
      const closing = repository.close();
      const others = Promise.all([finding, closing, isAvailable(() => repository.add([plant(-1n, 'late')]))]);
      // The reader's StorageUnavailable must not hide a violation of another call.
      await Promise.allSettled([reading, others]);
      await others;
      await reading;
    });
  },

  'close leaves no timer running': ({ open }) =>
    assertTimersEnd(async () => {
      const repository = await open();
      await repository.find(1n);
      await repository.addAll([plant(1n, 'Monstera')]);
      await repository.assertHolders([plant(1n, 'Monstera')]);
      await repository.assertFound([plant(1n, 'Monstera')]);
      await readPlants(repository);
      await repository.ready();
      await repository.close();
    }),
};
