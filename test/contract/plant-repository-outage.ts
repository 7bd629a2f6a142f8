import { type Plant, type PlantRepository, StorageUnavailable } from '../../core/index.js';
import {
  assertEqual,
  assertFunction,
  assertRejects,
  type ContractCase,
  ContractViolation,
  contractCase,
  describe,
  InvalidHarness,
  pause,
  runWithin,
} from './contract.js';
import { assertSurvive, type DurablePlantRepositoryHarness, useReopened } from './durable-plant-repository.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertTimersEnd,
  isAvailable,
  type PlantRepositoryHarness,
  readPlants,
  toTuple,
  useRepository,
} from './repository-checks.js';
import { CONFIDENTIAL, createPlants, plant } from './sample-plants.js';

/** Gives the cases access to an adapter whose storage can become unavailable while it is open. */
export interface PlantRepositoryOutageHarness extends PlantRepositoryHarness {
  /**
   * Makes the storage of the last `open` unavailable, at least for `add`, runs `work`, and restores the storage. May wait
   * until the repository is connected again; otherwise the cases wait up to ten seconds. Rejects if `work` rejects.
   */
  withStorageAway(work: () => Promise<void>): Promise<void>;
}

/** Gives the cases access to an adapter whose plants survive a restart and whose storage can become unavailable. */
export interface DurablePlantRepositoryOutageHarness
  extends DurablePlantRepositoryHarness,
    PlantRepositoryOutageHarness {}

/** Maximum time after an outage until a repository is ready again, in milliseconds. */
const RECOVERY_MS = 10_000;
/** Pause between two readiness checks, in milliseconds. */
const RECOVERY_PAUSE_MS = 20;
/** Timeout of a case, in milliseconds: each call may take as long as the adapter waits for its storage. */
const OUTAGE_TIMEOUT_MS = 90_000;

type WithOutage = (work: () => Promise<void>) => Promise<void>;

/** Additional contract of repositories whose storage can become unavailable. */
export const plantRepositoryOutageContract: readonly ContractCase<PlantRepositoryOutageHarness>[] = [
  outageCase('add throws StorageUnavailable during an outage', async (repository, withOutage) => {
    await withOutage(async () => {
      await assertAddFails(repository, plant(1n, 'Monstera'));
    });
  }),

  outageCase('the error of an outage reveals no value of a plant', async (repository, withOutage) => {
    await withOutage(async () => {
      assertConfidential(await assertAddFails(repository, CONFIDENTIAL));
    });
  }),

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
        await assertRejects('ready after an add that failed', StorageUnavailable, () => repository.ready());
      });
    },
  ),

  outageCase(
    'recovers from an outage, and a retry finds out which plants were stored',
    async (repository, withOutage) => {
      const [stored, uncertain] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
      await addAll(repository, [stored]);
      for (let outage = 0; outage < 2; outage++)
        await withOutage(async () => {
          await assertAddFails(repository, uncertain);
        });
      await awaitReady(repository);
      await assertAddedOrHeld(repository, uncertain, [uncertain]);
      await assertContent(repository, [stored, uncertain]);
    },
  ),

  outageCase('close succeeds during an outage', async (repository, withOutage) => {
    await addAll(repository, [plant(1n, 'Monstera')]);
    await withOutage(async () => {
      await repository.close();
      await assertRejects('ready', StorageUnavailable, () => repository.ready());
    });
  }),

  contractCase(
    'close during an outage leaves no timer running',
    (harness) =>
      assertTimersEnd(() =>
        useRepository(harness, 'open', async (repository) => {
          await addAll(repository, [plant(1n, 'Monstera')]);
          await withStorageAway(harness, async () => {
            await isAvailable(() => repository.ready());
            await repository.close();
          });
        }),
      ),
    OUTAGE_TIMEOUT_MS,
  ),
];

/**
 * Contract of repositories whose plants survive a restart and whose storage can become unavailable: looks at the storage
 * through a reopened repository. Includes {@link plantRepositoryOutageContract}.
 */
export const durablePlantRepositoryOutageContract: readonly ContractCase<DurablePlantRepositoryOutageHarness>[] = [
  ...plantRepositoryOutageContract,

  outageCase('a plant reported as added or taken after an outage survives', async (repository, withOutage, harness) => {
    const [stored, uncertain] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
    await addAll(repository, [stored]);
    await addDuringOutage(repository, withOutage, [uncertain], harness);
    await assertAddedOrHeld(repository, uncertain, [uncertain]);
    await useReopened(harness, [stored, uncertain]);
  }),

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
    await assertSurvive(harness, await readPlants(repository));
  }),

  outageCase('a batch reported as stored after an outage survives', async (repository, withOutage, harness) => {
    const stored = createPlants(3);
    await addAll(repository, stored);
    const batch = createPlants(6);
    await addDuringOutage(repository, withOutage, batch, harness);
    const outcomes = await repository.add(batch);
    for (const [index, outcome] of outcomes.entries())
      if (outcome.kind !== 'added') assertEqual(toTuple(outcome), ['taken', batch[index]], 'the outcome of a retry');
    await assertContent(repository, batch);
    await useReopened(harness, batch);
  }),

  outageCase(
    'adds pending when an outage starts report only plants that survive',
    async (repository, withOutage, harness) => {
      const candidates = createPlants(30);
      const added: Plant[] = [];
      const adding = candidates.map(async (candidate) => {
        if (await isAvailable(() => assertAddedOrHeld(repository, candidate, [candidate]))) added.push(candidate);
      });
      await Promise.all([...adding, withOutage(async () => void (await Promise.all(adding)))]);
      await awaitReady(repository);
      await assertSurvive(harness, [...added, ...(await readPlants(repository))]);
    },
  ),

  outageCase('plants added before and after an outage survive a crash', async (repository, withOutage, harness) => {
    const stored = createPlants(20);
    await addAll(repository, stored.slice(0, 10));
    await addDuringOutage(repository, withOutage, stored.slice(10, 11), harness);
    await repository.add(stored.slice(10));
    await useReopened(harness, stored);
  }),
];

function outageCase<Harness extends PlantRepositoryOutageHarness>(
  name: string,
  check: (repository: PlantRepository, withOutage: WithOutage, harness: Harness) => Promise<void>,
): ContractCase<Harness> {
  return contractCase(
    name,
    (harness) =>
      useRepository(harness, 'open', (repository) =>
        check(repository, (work) => withStorageAway(harness, work), harness),
      ),
    OUTAGE_TIMEOUT_MS,
  );
}

function withStorageAway(harness: PlantRepositoryOutageHarness, work: () => Promise<void>): Promise<void> {
  assertFunction(harness, 'withStorageAway');
  return runWithin('withStorageAway', (inner) => harness.withStorageAway(inner), work);
}

function assertAddFails(repository: PlantRepository, candidate: Plant): Promise<Error> {
  return assertRejects(
    'add during an outage (if it stored the plant, withStorageAway() left the storage available)',
    StorageUnavailable,
    () => repository.add([candidate]),
  );
}

/** Waits until the repository is ready again. */
async function awaitReady(repository: PlantRepository): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS;
  while (!(await isAvailable(() => repository.ready()))) {
    if (Date.now() > deadline)
      throw new ContractViolation(`the repository is not ready ${RECOVERY_MS / 1000} seconds after an outage`);
    await pause(RECOVERY_PAUSE_MS);
  }
}

/** Adds `batch` during an outage, which must fail, and waits for the end of the outage. */
async function addDuringOutage(
  repository: PlantRepository,
  withOutage: WithOutage,
  batch: readonly Plant[],
  harness: DurablePlantRepositoryHarness,
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
      throw new InvalidHarness('withStorageAway() must make the storage unavailable, but plants were stored meanwhile');
    throw new ContractViolation('add resolved during an outage, but its plants are not stored');
  });
}

/** Adds a plant whose id may belong to one of `possibleHolders`, and returns the plant that holds the id afterwards. */
async function assertAddedOrHeld(
  repository: PlantRepository,
  candidate: Plant,
  possibleHolders: readonly Plant[],
): Promise<Plant> {
  const [outcome] = await repository.add([candidate]);
  if (outcome?.kind === 'added') return candidate;
  const holder = possibleHolders.find((possible) => outcome?.kind === 'taken' && possible.equals(outcome.holder));
  if (holder) return holder;
  throw new ContractViolation(`expected added, or taken with the plant of the failed add, got ${describe(outcome)}`);
}
