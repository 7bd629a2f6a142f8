import { isStorageUnavailable, type Plant } from '@plant-store/core';
import { assertRejects, type Cases, ContractViolation, describe, pause } from '../contract.js';
import {
  assertConfidential,
  assertTimersEnd,
  isAvailable,
  readPlants,
  type TestRepository,
  toOther,
} from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { CONFIDENTIAL, createPlants, plant } from '../sample-plants.js';
import { assertDurable } from './durability.js';

/** Storage that can become unavailable. */
export const outageCases: Cases<TestStorage> = {
  'ready resolves only if plants can be read and no add failed': async ({ repository, whileUnavailable }) => {
    const stored = [plant(1n, 'Monstera')];
    await repository.addAll(stored);
    await whileUnavailable(async () => {
      const isReady = await isAvailable(() => repository.ready());
      const isReadable = await isAvailable(() => repository.assertContent(stored));
      if (isReady && !isReadable) throw new ContractViolation('ready resolved, but read threw StorageUnavailable');
      await assertAddFails(repository, [CONFIDENTIAL]);
      // Their errors reveal no values either.
      await isAvailable(() => repository.find(CONFIDENTIAL.id));
      await isAvailable(() => repository.read(CONFIDENTIAL.id, 1));
      await assertRejects('ready after an add that failed', isStorageUnavailable, () => repository.ready());
    });
  },

  'find and read return every plant or throw StorageUnavailable': async ({ repository, whileUnavailable }) => {
    const stored = createPlants(2500);
    await repository.addAll(stored);
    // One reader starts before the outage, the other one during it.
    await repository.assertCompleteOrUnavailable(stored, whileUnavailable);
    await whileUnavailable(async () => {
      await repository.assertCompleteOrUnavailable(stored);
      await isAvailable(() => repository.assertFound(stored.slice(0, 1)));
    });
  },

  'the repository recovers, and a retry finds out which plants were stored': (storage) => retryAfterOutage(storage),

  'close succeeds, and leaves no timer running': ({ open, whileUnavailable }) =>
    assertTimersEnd(async () => {
      const repository = await open();
      await whileUnavailable(() => repository.close());
    }),
};

/** Storage that can become unavailable, and whose plants survive a restart. */
export const durableOutageCases: Cases<TestStorage> = {
  'plants that were added, read or returned as stored survive a restart': async (storage) => {
    const stored = await retryAfterOutage(storage);
    await (await storage.reopen()).assertContent(stored, 'plants read after an outage and reopening');
  },

  'add calls in flight report only plants that survive a restart': async ({ repository, reopen, whileUnavailable }) => {
    const added: Plant[] = [];
    const adding = createPlants(30).map(async (candidate) => {
      if (await isAvailable(() => assertRetry(repository, [candidate], [candidate]))) added.push(candidate);
    });
    await whileUnavailable(() => Promise.all(adding));
    await awaitReady(repository);
    await assertDurable(reopen, [...added, ...(await readPlants(repository))]);
  },
};

/** Adds plants before, during and after outages, and returns the plants that are stored afterwards. */
async function retryAfterOutage({ repository, whileUnavailable }: TestStorage): Promise<readonly Plant[]> {
  const [stored, failed] = [createPlants(3), createPlants(6, 3n)];
  await repository.addAll(stored);
  for (let outage = 0; outage < 2; outage++)
    await whileUnavailable(() =>
      Promise.all([
        assertAddFails(repository, failed),
        isAvailable(() => repository.assertFound(stored)),
        isAvailable(() => readPlants(repository)),
      ]),
    );
  await awaitReady(repository);
  const found = await Promise.all(failed.map(({ id }) => repository.find(id)));
  const read = [...(await readPlants(repository)), ...found.filter((each) => each !== undefined)];
  // Retries half of the plants, and adds other plants under the ids of the rest.
  const retried = failed.map((each, index) => (index % 2 === 0 ? each : toOther(each)));
  const storedPlants = [...stored, ...(await assertRetry(repository, retried, failed))];
  const lost = read.find((each) => !storedPlants.some((other) => other.equals(each)));
  if (lost)
    throw new ContractViolation(`after an outage, find or read returned ${describe(lost)}, but its id was free`);
  await repository.assertContent(storedPlants);
  await repository.assertFound(storedPlants);
  return storedPlants;
}

/** Asserts that `add` throws StorageUnavailable, without values of the plants. */
async function assertAddFails(repository: TestRepository, batch: readonly Plant[]): Promise<void> {
  const what = 'add during an outage (if it stored the plants, whileUnavailable() left the storage available)';
  const error = await assertRejects(what, isStorageUnavailable, () => repository.add(batch));
  for (const each of batch) assertConfidential(error, each);
}

async function awaitReady(repository: TestRepository): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isAvailable(() => repository.ready()))) {
    if (Date.now() > deadline) throw new ContractViolation('the repository is not ready 10 seconds after an outage');
    await pause(20);
  }
}

/** Adds plants whose ids may belong to `failed` plants, and returns the plants that have the ids afterwards. */
async function assertRetry(repository: TestRepository, plants: readonly Plant[], failed: readonly Plant[]) {
  const outcomes = await repository.add(plants);
  return plants.map((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind === 'added') return candidate;
    if (outcome?.kind === 'conflict' && failed[index]?.equals(outcome.stored)) return outcome.stored;
    const expected = 'expected added, or a conflict with the plant of the failed add';
    throw new ContractViolation(`${expected}, got ${describe(outcome)}`);
  });
}
