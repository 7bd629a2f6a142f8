import type { Plant, PlantStorage } from '../../core/index.js';
import { assertRejects, type Cases, ContractViolation, describe, pause } from './contract.js';
import { assertDurable } from './durable-plant-repository.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertTimersEnd,
  isAvailable,
  readPlants,
} from './repository-checks.js';
import type { TestStorage } from './repository-harness.js';
import { CONFIDENTIAL, createPlants, plant } from './sample-plants.js';

/** Maximum time after an outage until a repository is ready again, in milliseconds. */
const RECOVERY_MS = 10_000;
/** Pause between two readiness checks, in milliseconds. */
const RECOVERY_PAUSE_MS = 20;

/** Cases for repositories whose storage can become unavailable. */
export const outageCases: Cases<TestStorage> = {
  'add throws StorageUnavailable, without values of the plant': ({ repository, whileUnavailable }) =>
    whileUnavailable(async () => assertConfidential(await assertAddFails(repository, [CONFIDENTIAL]))),

  'ready resolves only if plants can be read and no add failed': async ({ repository, whileUnavailable }) => {
    const stored = [plant(1n, 'Monstera')];
    await addAll(repository, stored);
    await whileUnavailable(async () => {
      if (await isAvailable(() => repository.ready())) await assertContent(repository, stored);
      await assertAddFails(repository, [plant(2n, 'Ficus')]);
      await assertRejects('ready after an add that failed', 'STORAGE_UNAVAILABLE', () => repository.ready());
    });
  },

  'a reader reads every plant or throws StorageUnavailable': async ({ repository, whileUnavailable }) => {
    const stored = createPlants(2500);
    await addAll(repository, stored);
    // One reader starts before the outage, the other one during it.
    await assertCompleteOrUnavailable(repository, stored, whileUnavailable);
    await whileUnavailable(() => assertCompleteOrUnavailable(repository, stored));
  },

  'a reader that stops leaves no rejection unhandled': async ({ repository, whileUnavailable }) => {
    await addAll(repository, createPlants(2500));
    const reader = repository.readAll()[Symbol.asyncIterator]();
    await reader.next();
    await whileUnavailable(async () => {
      await assertAddFails(repository, [plant(-1n, 'Monstera')]);
      await isAvailable(async () => reader.return?.());
    });
  },

  'the repository recovers, and a retry finds out which plants were stored': async (storage) => {
    const { repository, whileUnavailable } = storage;
    const [stored, uncertain] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
    await addAll(repository, [stored]);
    for (let outage = 0; outage < 2; outage++) await whileUnavailable(() => assertAddFails(repository, [uncertain]));
    await awaitReady(repository);
    await assertRetry(repository, [uncertain], [uncertain]);
    await assertContent(repository, [stored, uncertain]);
  },

  'close succeeds, and leaves no timer running': ({ open, whileUnavailable }) =>
    assertTimersEnd(async () => {
      const repository = await open();
      await addAll(repository, [plant(1n, 'Monstera')]);
      await whileUnavailable(async () => {
        await isAvailable(() => repository.ready());
        await repository.close();
        await assertRejects('ready after close', 'STORAGE_UNAVAILABLE', () => repository.ready());
      });
    }),
};

/** Cases for repositories for which both hold: they look at the storage through a reopened repository. */
export const durableOutageCases: Cases<TestStorage> = {
  'plants that were added, read or returned as holder survive a restart': async (storage) => {
    const { repository, reopen, whileUnavailable } = storage;
    const stored = createPlants(3);
    await addAll(repository, stored);
    const failed = createPlants(6, 3n);
    await whileUnavailable(() => assertAddFails(repository, failed));
    await awaitReady(repository);
    const read = await readPlants(repository);
    // Retries half of the plants, and tries to add other plants under the ids of the rest.
    const retried = failed.map((each, index) => (index % 2 === 0 ? each : plant(each.id, 'other')));
    const holders = [...stored, ...(await assertRetry(repository, retried, failed))];
    const lost = read.find((each) => !holders.some((holder) => holder.equals(each)));
    if (lost) throw new ContractViolation(`after an outage, readAll returned ${describe(lost)}, but its id was free`);
    await assertContent(repository, holders);
    await assertContent(await reopen(), holders, 'plants read after an outage and reopening');
  },

  'add calls in flight report only plants that survive a restart': async ({ repository, reopen, whileUnavailable }) => {
    const added: Plant[] = [];
    const adding = createPlants(30).map(async (candidate) => {
      if (await isAvailable(() => assertRetry(repository, [candidate], [candidate]))) added.push(candidate);
    });
    await Promise.all([...adding, whileUnavailable(() => Promise.all(adding))]);
    await awaitReady(repository);
    await assertDurable(reopen, [...added, ...(await readPlants(repository))]);
  },
};

function assertAddFails(repository: PlantStorage, batch: readonly Plant[]): Promise<Error> {
  return assertRejects(
    'add during an outage (if it stored the plants, whileUnavailable() left the storage available)',
    'STORAGE_UNAVAILABLE',
    () => repository.add(batch),
  );
}

/** Waits until the repository is ready again. */
async function awaitReady(repository: PlantStorage): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS;
  while (!(await isAvailable(() => repository.ready()))) {
    if (Date.now() > deadline)
      throw new ContractViolation(`the repository is not ready ${RECOVERY_MS / 1000} seconds after an outage`);
    await pause(RECOVERY_PAUSE_MS);
  }
}

/** Adds plants whose ids may belong to `failed` plants, and returns the plants that have the ids afterwards. */
async function assertRetry(
  repository: PlantStorage,
  plants: readonly Plant[],
  failed: readonly Plant[],
): Promise<readonly Plant[]> {
  const outcomes = await repository.add(plants);
  return plants.map((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome?.kind === 'added') return candidate;
    if (outcome?.kind === 'taken' && failed[index]?.equals(outcome.holder)) return outcome.holder;
    throw new ContractViolation(`expected added, or taken with the plant of the failed add, got ${describe(outcome)}`);
  });
}
