import { isStorageUnavailable, type OpenPlantRepository, type Plant, type PlantWriter } from '@plant-store/core';
import { assertRejects, type Cases, ContractViolation, describe, pause } from './contract.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertFound,
  assertHolders,
  assertOutcomes,
  assertTimersEnd,
  isAvailable,
  readPlants,
  toOther,
} from './repository-checks.js';
import type { TestStorage } from './repository-harness.js';
import { CONFIDENTIAL, createPlants, PLANTS_WITH_IDS, PLANTS_WITH_TEXTS, plant } from './sample-plants.js';

const REOPENED = 'plants read after reopening (if none, reopen() may open other storage)';

/** Cases for repositories whose plants survive a restart. */
export const durableCases: Cases<TestStorage> = {
  'returns ids, strings and the first plant with an id unchanged after reopening': async ({ open, reopen }) => {
    for (const stored of [PLANTS_WITH_IDS, PLANTS_WITH_TEXTS]) {
      const repository = await open();
      const expected = [...stored.map(() => 'added' as const), ...stored];
      await assertOutcomes(repository, [...stored, ...stored.map(toOther)], expected);
      await repository.close();
      // Each may be the first call, because some repositories load an index at that time.
      await assertContent(await reopen(), stored, REOPENED);
      await assertFound(await reopen(), stored);
      await assertHolders(await reopen(), stored);
    }
  },

  'returns every added plant after a crash and after closing, and adds more': async ({ repository, reopen }) => {
    const [stored, more] = [createPlants(2500), createPlants(500, 2500n)];
    for (let start = 0; start < stored.length; start += 500) await addAll(repository, stored.slice(start, start + 500));
    const afterCrash = await reopen();
    await assertContent(afterCrash, stored, REOPENED);
    await addAll(afterCrash, more);
    await afterCrash.close();
    await assertContent(await reopen(), [...stored, ...more], REOPENED);
  },

  'reports a conflict only after the stored plant would survive a crash': async ({ repository, reopen }) => {
    // The losers of the race may see the winner before it is durable.
    let reopened: Promise<unknown> = Promise.resolve();
    const adding = ['one', 'two', 'three'].map(async (name) => {
      const [outcome] = await repository.add([plant(1n, name)]);
      if (outcome?.kind !== 'conflict') return;
      // One at a time, because some databases can be open only once.
      reopened = reopened.then(() => assertDurable(reopen, [outcome.stored]));
      await reopened;
    });
    await Promise.all(adding);
  },

  'after reopening, returns every plant that was added during close': async ({ repository, reopen }) => {
    const added: Plant[] = [];
    const adding = createPlants(40).map(async (candidate) => {
      if (await isAvailable(() => addAll(repository, [candidate]))) added.push(candidate);
    });
    await Promise.all([...adding, repository.close()]);
    if (added.length === 0) throw new ContractViolation('close failed every call in flight');
    await assertDurable(reopen, added);
  },
};

/** Cases for repositories whose storage can become unavailable. */
export const outageCases: Cases<TestStorage> = {
  'ready resolves only if plants can be read and no add failed': async ({ repository, whileUnavailable }) => {
    const stored = [plant(1n, 'Monstera')];
    await addAll(repository, stored);
    await whileUnavailable(async () => {
      const isReady = await isAvailable(() => repository.ready());
      const isReadable = await isAvailable(() => assertContent(repository, stored));
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
    await addAll(repository, stored);
    // One reader starts before the outage, the other one during it.
    await assertCompleteOrUnavailable(repository, stored, whileUnavailable);
    await whileUnavailable(async () => {
      await assertCompleteOrUnavailable(repository, stored);
      await isAvailable(() => assertFound(repository, stored.slice(0, 1)));
    });
  },

  'the repository recovers, and a retry finds out which plants were stored': (storage) => retryAfterOutage(storage),

  'close succeeds, and leaves no timer running': ({ open, whileUnavailable }) =>
    assertTimersEnd(async () => {
      const repository = await open();
      await whileUnavailable(() => repository.close());
    }),
};

/** Cases for repositories for which both hold: they look at the storage through a reopened repository. */
export const durableOutageCases: Cases<TestStorage> = {
  'plants that were added, read or returned as stored survive a restart': async (storage) => {
    const storedPlants = await retryAfterOutage(storage);
    await assertContent(await storage.reopen(), storedPlants, 'plants read after an outage and reopening');
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
  await addAll(repository, stored);
  for (let outage = 0; outage < 2; outage++)
    await whileUnavailable(() =>
      Promise.all([
        assertAddFails(repository, failed),
        isAvailable(() => assertFound(repository, stored)),
        isAvailable(() => readPlants(repository)),
      ]),
    );
  await awaitReady(repository);
  const found = await Promise.all(failed.map(({ id }) => repository.find(id)));
  const read = [...(await readPlants(repository)), ...found.filter((each) => each !== undefined)];
  // Retries half of the plants, and adds other plants under the ids of the rest.
  const retried = failed.map((each, index) => (index % 2 === 0 ? each : toOther(each)));
  const storedPlants = [...stored, ...(await assertRetry(repository, retried, failed))];
  const lost = read.find((each) => !storedPlants.some((stored) => stored.equals(each)));
  if (lost)
    throw new ContractViolation(`after an outage, find or read returned ${describe(lost)}, but its id was free`);
  await assertContent(repository, storedPlants);
  await assertFound(repository, storedPlants);
  return storedPlants;
}

/** Reopens the storage and asserts that it contains `stored`, possibly among others. */
async function assertDurable(reopen: TestStorage['reopen'], stored: readonly Plant[]): Promise<void> {
  const repository = await reopen();
  const survivors = new Map((await readPlants(repository)).map((survivor) => [survivor.id, survivor]));
  await repository.close();
  const lost = stored.find((each) => !survivors.get(each.id)?.equals(each));
  if (lost) throw new ContractViolation(`"${lost.name}" was added or read, but the reopened storage lacks it`);
}

/** Asserts that `add` throws StorageUnavailable, without values of the plants. */
async function assertAddFails(repository: PlantWriter, batch: readonly Plant[]): Promise<void> {
  const what = 'add during an outage (if it stored the plants, whileUnavailable() left the storage available)';
  const error = await assertRejects(what, isStorageUnavailable, () => repository.add(batch));
  for (const each of batch) assertConfidential(error, each);
}

/** Waits until the repository is ready again. */
async function awaitReady(repository: OpenPlantRepository): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isAvailable(() => repository.ready()))) {
    if (Date.now() > deadline) throw new ContractViolation('the repository is not ready 10 seconds after an outage');
    await pause(20);
  }
}

/** Adds plants whose ids may belong to `failed` plants, and returns the plants that have the ids afterwards. */
async function assertRetry(
  repository: PlantWriter,
  plants: readonly Plant[],
  failed: readonly Plant[],
): Promise<readonly Plant[]> {
  const outcomes = await repository.add(plants);
  return plants.map((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind === 'added') return candidate;
    if (outcome?.kind === 'conflict' && failed[index]?.equals(outcome.stored)) return outcome.stored;
    throw new ContractViolation(
      `expected added, or a conflict with the plant of the failed add, got ${describe(outcome)}`,
    );
  });
}
