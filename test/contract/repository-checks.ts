import {
  type AddOutcome,
  isStorageUnavailable,
  type OpenPlantRepository,
  Plant,
  type PlantId,
  type PlantReader,
  ReadPlants,
} from '@plant-store/core';
import { assertEqual, ContractViolation, describe, pause } from './contract.js';
import { CONFIDENTIAL, plant } from './sample-plants.js';

/** Number of plants that most cases read at once. */
const READ_LIMIT = 1000;
const MAX_CONCURRENT_FINDS = 100;

/** What a case expects for a plant: that it is added or rejected, or the plant that holds its id. */
export type Expected = 'added' | 'rejected' | Plant;

/** A repository under test, and what cases assert about it. */
export class TestRepository implements OpenPlantRepository {
  readonly #adapter: OpenPlantRepository;

  constructor(adapter: OpenPlantRepository) {
    this.#adapter = adapter;
  }

  // These are not async, so that calls start and end when those of the adapter do.
  add = (plants: readonly Plant[]) => this.#adapter.add(plants);
  find = (id: PlantId) => this.#adapter.find(id);
  read = (from: PlantId, limit: number) => this.#adapter.read(from, limit);
  ready = () => this.#adapter.ready();
  close = () => this.#adapter.close();

  /** Adds `batch` and asserts the outcomes. */
  async assertOutcomes(batch: readonly Plant[], expected: readonly Expected[]): Promise<void> {
    assertSameOutcomes(await this.add(batch), expected);
  }

  /** Adds plants whose ids are free. */
  async addAll(plants: readonly Plant[]): Promise<void> {
    const expected = plants.map(() => 'added' as const);
    await this.assertOutcomes(plants, expected);
  }

  /** Asserts that adding other plants under the ids of `stored` returns `stored`. */
  async assertHolders(stored: readonly Plant[]): Promise<void> {
    await this.assertOutcomes(stored.map(toOther), stored);
  }

  /** Asserts that plants are added, returned as stored, and read. */
  async assertStored(plants: readonly Plant[]): Promise<void> {
    await this.addAll(plants);
    await this.assertHolders(plants);
    await this.assertFound(plants.slice(0, 2000));
    await this.assertContent(plants);
  }

  /** Asserts that the repository stores exactly these plants and reads them ordered by id. */
  async assertContent(expected: readonly Plant[], what = 'plants read', batchSize?: number): Promise<void> {
    assertEqual(await readPlants(this, expected.length, batchSize), sortById(expected), what);
  }

  /** Asserts that the repository finds each of these plants, and nothing under other `ids`. */
  async assertFound(stored: readonly Plant[], ids: readonly PlantId[] = stored.map(({ id }) => id)): Promise<void> {
    const expected = new Map(stored.map((each) => [each.id, each]));
    const assertFinds = async (id: PlantId) => {
      const found = await this.find(id);
      if (found) assertPlant(found);
      assertEqual(found, expected.get(id), `the plant found under ${id}`);
    };
    // The repository may combine concurrent calls to one query.
    for (let start = 0; start < ids.length; start += MAX_CONCURRENT_FINDS)
      await Promise.all(ids.slice(start, start + MAX_CONCURRENT_FINDS).map(assertFinds));
  }

  /**
   * Asserts that a reader returns every plant or throws StorageUnavailable.
   * @param interrupt Called after the first batch with a function that continues reading.
   */
  async assertCompleteOrUnavailable(
    expected: readonly Plant[],
    interrupt: (readRest: () => Promise<void>) => Promise<unknown> = (readRest) => readRest(),
  ): Promise<void> {
    const batches = readBatches(this);
    const read: Plant[] = [];
    const isComplete = await isAvailable(async () => {
      const { value: first = [] } = await batches.next();
      read.push(...first);
      await interrupt(async () => {
        for await (const batch of batches) {
          read.push(...batch);
          if (read.length > expected.length) break;
        }
      });
    });
    if (isComplete) assertEqual(read, expected, 'plants of a reader that ended without an error');
  }
}

export function assertSameOutcomes(outcomes: readonly AddOutcome[], expected: readonly Expected[]): void {
  if (!Array.isArray(outcomes)) throw new ContractViolation(`add must resolve to an array, got ${describe(outcomes)}`);
  const actual = Array.from(outcomes, (outcome: AddOutcome) =>
    outcome?.kind === 'conflict' ? { conflict: assertPlant(outcome.stored) } : outcome?.kind,
  );
  const wanted = expected.map((each) => (typeof each === 'string' ? each : { conflict: each }));
  assertEqual(actual, wanted, 'outcomes');
}

/** Asserts that an adapter in JavaScript, too, returned a plant. Another copy of the core may have created it. */
function assertPlant(value: Plant): Plant {
  if (typeof value?.equals === 'function' && Plant.from(value).kind === 'valid') return value;
  throw new ContractViolation(`expected a plant created by Plant.from, got ${describe(value)}`);
}

/** Returns a different plant with the same id. */
export function toOther({ id }: Plant): Plant {
  return plant(id, 'another plant');
}

export function sortById(plants: readonly Plant[]): Plant[] {
  return plants.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Reads plants as the use case does, and checks each batch. */
export function readBatches(repository: PlantReader, batchSize = READ_LIMIT): AsyncGenerator<readonly Plant[]> {
  const read = async (from: PlantId, limit: number) => {
    const batch = await repository.read(from, limit);
    if (!Array.isArray(batch) || batch.length > limit)
      throw new ContractViolation(`read must return an array of at most ${limit} plants, got ${describe(batch)}`);
    batch.forEach(assertPlant);
    return batch;
  };
  return new ReadPlants({ find: (id) => repository.find(id), read }).execute(undefined, batchSize);
}

/** Reads every plant, up to a number that no case adds. */
export async function readPlants(
  repository: PlantReader,
  maxPlants = 100_000,
  batchSize: number = READ_LIMIT,
): Promise<Plant[]> {
  const plants: Plant[] = [];
  for await (const batch of readBatches(repository, batchSize)) {
    plants.push(...batch);
    if (plants.length > maxPlants) break;
  }
  return plants;
}

/** Returns whether `work` succeeded, or `false` if it threw StorageUnavailable, without values of {@link CONFIDENTIAL}. */
export async function isAvailable(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isStorageUnavailable(error)) {
      assertConfidential(error);
      return false;
    }
    if (error instanceof ContractViolation) throw error;
    throw new ContractViolation(`expected StorageUnavailable, got ${error}`);
  }
}

/**
 * Asserts that neither the message of an error nor those of the core's errors in its `cause` chain contain a value of a
 * plant. Other causes may be errors of a driver, whose messages the log drops.
 */
export function assertConfidential(error: Error, plant: Plant = CONFIDENTIAL): void {
  // Shorter values may appear by chance.
  const values = Object.values(plant)
    .map(String)
    .filter(({ length }) => length >= 6);
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { name, message } = cause;
    if ((cause === error || isStorageUnavailable(cause)) && values.some((value) => message.includes(value)))
      throw new ContractViolation(`the message of ${name} contains a value of a plant`);
  }
}

/** Asserts that a repository that `openAndClose` opens and closes leaves no timer running, if the runtime can tell. */
export async function assertTimersEnd(openAndClose: () => Promise<void>): Promise<void> {
  // Absent in browsers, partial in other runtimes.
  const runtime: Partial<NodeJS.Process> | undefined = globalThis.process;
  const countTimers = () => runtime?.getActiveResourcesInfo?.().filter((type) => type === 'Timeout').length ?? 0;
  // The first repository starts what a driver or the harness shares between repositories.
  await openAndClose();
  const timers = countTimers();
  // Of four, because the rest of the process may start up to three timers meanwhile.
  for (let round = 0; round < 4; round++) await openAndClose();
  // Some drivers close their connections in the background.
  for (const deadline = Date.now() + 3000; countTimers() >= timers + 4; await pause(10))
    if (Date.now() > deadline)
      throw new ContractViolation('close leaves a timer running, which keeps the process from exiting');
}
