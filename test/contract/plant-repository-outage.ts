import type { Plant } from '../../core/index.js';
import {
  assertEqual,
  assertFunction,
  assertRejects,
  ContractViolation,
  contractCase,
  describe,
  type HarnessCase,
  InvalidHarness,
  pause,
  runWithin,
} from './contract.js';
import { assertDurable, useReopened } from './durable-plant-repository.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertTimersEnd,
  type HarnessWith,
  isAvailable,
  type OpenPlantRepository,
  readPlants,
  toTuple,
  useRepository,
} from './repository-checks.js';
import { CONFIDENTIAL, createPlants, plant } from './sample-plants.js';

/** Maximum time after an outage until a repository is ready again, in milliseconds. */
const RECOVERY_MS = 10_000;
/** Pause between two readiness checks, in milliseconds. */
const RECOVERY_PAUSE_MS = 20;
/** Timeout of a case, in milliseconds: each call may take as long as the adapter waits for its storage. */
const OUTAGE_TIMEOUT_MS = 90_000;

type WithOutage = (work: () => Promise<unknown>) => Promise<void>;

/** Cases for repositories whose storage can become unavailable. */
export const outageCases: readonly HarnessCase<HarnessWith<'whileUnavailable'>>[] = [
  outageCase('add throws StorageUnavailable during an outage, without values of the plant', (repository, withOutage) =>
    withOutage(async () => assertConfidential(await assertAddFails(repository, CONFIDENTIAL))),
  ),

  outageCase(
    'readAll reads every plant or throws StorageUnavailable during an outage',
    async (repository, withOutage) => {
      const stored = createPlants(2500);
      await addAll(repository, stored);
      await withOutage(() => assertCompleteOrUnavailable(repository, stored));
    },
  ),

  outageCase(
    'a reader reads every plant or throws StorageUnavailable when an outage starts',
    async (repository, withOutage) => {
      const stored = createPlants(2500);
      await addAll(repository, stored);
      await assertCompleteOrUnavailable(repository, stored, withOutage);
    },
  ),

  outageCase('a reader that stops during an outage leaves no rejection unhandled', async (repository, withOutage) => {
    await addAll(repository, createPlants(2500));
    const reader = repository.readAll()[Symbol.asyncIterator]();
    await reader.next();
    await withOutage(async () => {
      await assertAddFails(repository, plant(-1n, 'Monstera'));
      await isAvailable(async () => reader.return?.());
    });
  }),

  outageCase(
    'ready resolves during an outage only if plants can be read and no add failed',
    async (repository, withOutage) => {
      const stored = [plant(1n, 'Monstera')];
      await addAll(repository, stored);
      await withOutage(async () => {
        if (await isAvailable(() => repository.ready())) await assertContent(repository, stored);
        await assertAddFails(repository, plant(2n, 'Ficus'));
        await assertRejects('ready after an add that failed', 'STORAGE_UNAVAILABLE', () => repository.ready());
      });
    },
  ),

  outageCase(
    'recovers from an outage, and a retry finds out which plants were stored',
    async (repository, withOutage) => {
      const [stored, uncertain] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
      await addAll(repository, [stored]);
      for (let outage = 0; outage < 2; outage++) await withOutage(() => assertAddFails(repository, uncertain));
      await awaitReady(repository);
      await assertAddedOrHeld(repository, uncertain, [uncertain]);
      await assertContent(repository, [stored, uncertain]);
    },
  ),

  contractCase(
    'close succeeds during an outage, and leaves no timer running',
    (harness) =>
      assertTimersEnd(() =>
        useRepository(harness, 'open', async (repository) => {
          await addAll(repository, [plant(1n, 'Monstera')]);
          await whileUnavailable(harness, async () => {
            await isAvailable(() => repository.ready());
            await repository.close();
            await assertRejects('ready', 'STORAGE_UNAVAILABLE', () => repository.ready());
          });
        }),
      ),
    OUTAGE_TIMEOUT_MS,
  ),
];

/** Cases for repositories for which both hold: they look at the storage through a reopened repository. */
export const durableOutageCases: readonly HarnessCase<HarnessWith<'reopen' | 'whileUnavailable'>>[] = [
  outageCase(
    'after an outage, adding another plant with the same id returns added, or taken with a holder that survives',
    async (repository, withOutage, harness) => {
      const [uncertain, other] = [plant(2n, 'Ficus', 'indoor'), plant(2n, 'Aloe')];
      await addDuringOutage(repository, withOutage, [uncertain], harness);
      const holder = await assertAddedOrHeld(repository, other, [uncertain]);
      await useReopened(harness, [holder]);
    },
  ),

  outageCase('after an outage, reads only plants that survive a restart', async (repository, withOutage, harness) => {
    const stored = createPlants(3);
    await addAll(repository, stored);
    await addDuringOutage(repository, withOutage, createPlants(3, 3n), harness);
    // A failed add may still reach the storage.
    await assertDurable(harness, await readPlants(repository));
  }),

  outageCase(
    'plants added before an outage, and plants reported as stored after it, survive',
    async (repository, withOutage, harness) => {
      const stored = createPlants(3);
      await addAll(repository, stored);
      const batch = createPlants(6);
      await addDuringOutage(repository, withOutage, batch, harness);
      const outcomes = await repository.add(batch);
      for (const [index, outcome] of outcomes.entries())
        if (outcome.kind !== 'added') assertEqual(toTuple(outcome), ['taken', batch[index]], 'the outcome of a retry');
      await assertContent(repository, batch);
      await useReopened(harness, batch);
    },
  ),

  outageCase(
    'add calls in flight when an outage starts report only plants that survive',
    async (repository, withOutage, harness) => {
      const candidates = createPlants(30);
      const added: Plant[] = [];
      const adding = candidates.map(async (candidate) => {
        if (await isAvailable(() => assertAddedOrHeld(repository, candidate, [candidate]))) added.push(candidate);
      });
      await Promise.all([...adding, withOutage(() => Promise.all(adding))]);
      await awaitReady(repository);
      await assertDurable(harness, [...added, ...(await readPlants(repository))]);
    },
  ),
];

function outageCase<Harness extends HarnessWith<'whileUnavailable'>>(
  name: string,
  check: (repository: OpenPlantRepository, withOutage: WithOutage, harness: Harness) => Promise<void>,
): HarnessCase<Harness> {
  return contractCase(
    name,
    (harness) =>
      useRepository(harness, 'open', (repository) =>
        check(repository, (work) => whileUnavailable(harness, work), harness),
      ),
    OUTAGE_TIMEOUT_MS,
  );
}

function whileUnavailable(harness: HarnessWith<'whileUnavailable'>, work: () => Promise<unknown>): Promise<void> {
  assertFunction(harness, 'whileUnavailable');
  return runWithin('whileUnavailable', (inner) => harness.whileUnavailable(inner), work);
}

function assertAddFails(repository: OpenPlantRepository, candidate: Plant): Promise<Error> {
  return assertRejects(
    'add during an outage (if it stored the plant, whileUnavailable() left the storage available)',
    'STORAGE_UNAVAILABLE',
    () => repository.add([candidate]),
  );
}

/** Waits until the repository is ready again. */
async function awaitReady(repository: OpenPlantRepository): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS;
  while (!(await isAvailable(() => repository.ready()))) {
    if (Date.now() > deadline)
      throw new ContractViolation(`the repository is not ready ${RECOVERY_MS / 1000} seconds after an outage`);
    await pause(RECOVERY_PAUSE_MS);
  }
}

/** Adds `batch` during an outage, which must fail, and waits for the end of the outage. */
async function addDuringOutage(
  repository: OpenPlantRepository,
  withOutage: WithOutage,
  batch: readonly Plant[],
  harness: HarnessWith<'reopen'>,
): Promise<void> {
  let isAdded = false;
  await withOutage(async () => {
    isAdded = await isAvailable(() => repository.add(batch));
  });
  await awaitReady(repository);
  if (!isAdded) return;
  await useRepository(harness, 'reopen', async (reopened) => {
    const survivors = await readPlants(reopened);
    if (batch.every((candidate) => survivors.some((survivor) => survivor.equals(candidate))))
      throw new InvalidHarness(
        'whileUnavailable() must make the storage unavailable, but plants were stored meanwhile',
      );
    throw new ContractViolation('add resolved during an outage, but its plants are not stored');
  });
}

/** Adds a plant whose id may belong to one of `possibleHolders`, and returns the plant that holds the id afterwards. */
async function assertAddedOrHeld(
  repository: OpenPlantRepository,
  candidate: Plant,
  possibleHolders: readonly Plant[],
): Promise<Plant> {
  const [outcome] = await repository.add([candidate]);
  if (outcome?.kind === 'added') return candidate;
  const holder = possibleHolders.find((possible) => outcome?.kind === 'taken' && possible.equals(outcome.holder));
  if (holder) return holder;
  throw new ContractViolation(`expected added, or taken with the plant of the failed add, got ${describe(outcome)}`);
}
