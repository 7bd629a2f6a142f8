import {
  type AddOutcome,
  isStorageUnavailable,
  MIN_PLANT_ID,
  Plant,
  type PlantId,
  type PlantReader,
  type PlantRepository,
  type PlantWriter,
  ReadPlants,
} from '@plant-store/core';
import { assertEqual, ContractViolation, describe, pause } from './contract.js';
import { CONFIDENTIAL, createPlants, plant } from './sample-plants.js';

/** Number of plants that most cases read at once. */
const READ_LIMIT = 1000;
const MAX_CONCURRENT_FINDS = 100;
/** What a case expects for a plant: that it is added or rejected, or the plant that holds its id. */
export type Expected = 'added' | 'rejected' | Plant;

/** Adds `batch` and asserts the outcomes. */
export async function assertOutcomes(
  repository: PlantWriter,
  batch: readonly Plant[],
  expected: readonly Expected[],
): Promise<void> {
  assertSameOutcomes(await repository.add(batch), expected);
}

export function assertSameOutcomes(outcomes: readonly AddOutcome[], expected: readonly Expected[]): void {
  if (!Array.isArray(outcomes)) throw new ContractViolation(`add must resolve to an array, got ${describe(outcomes)}`);
  const actual = Array.from(outcomes, (outcome: AddOutcome) =>
    outcome?.kind === 'conflict' ? { conflict: assertPlant(outcome.stored) } : outcome?.kind,
  );
  const wanted = expected.map((each) => (typeof each === 'string' ? each : { conflict: each }));
  assertEqual(actual, wanted, 'outcomes');
}

/** Adds plants whose ids are free. */
export async function addAll(repository: PlantWriter, plants: readonly Plant[]): Promise<void> {
  await assertOutcomes(
    repository,
    plants,
    plants.map(() => 'added'),
  );
}

/** Asserts that adding other plants under the ids of `stored` returns `stored`. */
export async function assertHolders(repository: PlantWriter, stored: readonly Plant[]): Promise<void> {
  await assertOutcomes(repository, stored.map(toOther), stored);
}

/** Returns a different plant with the same id. */
export function toOther({ id }: Plant): Plant {
  return plant(id, 'another plant');
}

/** Adds plants concurrently to two repositories, which may be the same, and asserts that each id has one winner. */
export async function assertRaces(one: PlantRepository, other: PlantRepository): Promise<void> {
  const sameId = createPlants(100).map(({ name }) => [plant(-1n, name)]);
  const pairs = createPlants(50, 1000n).flatMap(({ id }) => [[plant(id, 'one', 'tag')], [plant(id, 'other')]]);
  const overlapping = createPlants(8).map(({ name }, call) =>
    createPlants(200, BigInt(20 * call)).map(({ id }) => plant(id, name)),
  );
  const calls = [...sameId, ...pairs, ...overlapping].map((batch, call) => ({
    repository: call % 2 === 0 ? one : other,
    batch: call % 3 === 0 ? batch.reverse() : batch,
  }));
  const results = await Promise.all(calls.map(({ repository, batch }) => repository.add(batch)));
  const [plants, outcomes] = [calls.flatMap(({ batch }) => batch), results.flat()];
  const winners = new Map(plants.flatMap((each, at) => (outcomes[at]?.kind === 'added' ? [[each.id, each]] : [])));
  const expected = plants.map((each) => (winners.get(each.id) === each ? 'added' : (winners.get(each.id) ?? 'added')));
  assertSameOutcomes(outcomes, expected);
  for (const repository of [one, other]) {
    await assertContent(repository, [...winners.values()]);
    await assertFound(repository, [...winners.values()]);
  }
}

/** Reads plants as the use case does, and checks each batch. */
export function readBatches(
  repository: PlantReader,
  after?: PlantId,
  batchSize = READ_LIMIT,
): AsyncGenerator<readonly Plant[], undefined> {
  const read = async (from: PlantId, limit: number) => assertBatch(await repository.read(from, limit), limit);
  return new ReadPlants({ find: (id) => repository.find(id), read }).execute(after, batchSize);
}

/** Reads every plant, up to a number that no case adds. */
export async function readPlants(
  repository: PlantReader,
  maxPlants = 100_000,
  batchSize: number = READ_LIMIT,
): Promise<Plant[]> {
  const plants: Plant[] = [];
  for await (const batch of readBatches(repository, undefined, batchSize)) {
    plants.push(...batch);
    if (plants.length > maxPlants) break;
  }
  return plants;
}

/** Asserts that the repository stores exactly these plants and reads them ordered by id. */
export async function assertContent(
  repository: PlantReader,
  expected: readonly Plant[],
  what = 'plants read',
  batchSize: number = READ_LIMIT,
): Promise<void> {
  assertEqual(await readPlants(repository, expected.length, batchSize), sortById(expected), what);
}

/** Asserts that the repository finds each of these plants. */
export async function assertFound(repository: PlantReader, stored: readonly Plant[]): Promise<void> {
  await assertFinds(
    repository,
    stored.map((each) => [each.id, each]),
  );
}

/** Asserts that the repository finds no plant under these ids. */
export async function assertFree(repository: PlantReader, ids: readonly PlantId[]): Promise<void> {
  await assertFinds(
    repository,
    ids.map((id) => [id, undefined]),
  );
}

/** Makes up to {@link MAX_CONCURRENT_FINDS} calls at once, which the repository may combine to one query. */
async function assertFinds(
  repository: PlantReader,
  expected: readonly (readonly [PlantId, Plant | undefined])[],
): Promise<void> {
  for (let start = 0; start < expected.length; start += MAX_CONCURRENT_FINDS) {
    const finding = expected.slice(start, start + MAX_CONCURRENT_FINDS).map(async ([id, plant]) => {
      const found = await repository.find(id);
      if (found) assertPlant(found);
      assertEqual(found, plant, `the plant found under ${id}`);
    });
    await Promise.all(finding);
  }
}

/** Asserts that a call sees every plant that was added, or returned as stored, before it started. */
export async function assertSeesAdds(reader: PlantReader, writer: PlantWriter): Promise<void> {
  const assertSeen = async (stored: Plant) => {
    await assertFound(reader, [stored]);
    assertEqual(
      await reader.read(stored.id, 1),
      [stored],
      `the plant read from ${stored.id} on, after add returned it`,
    );
  };
  for (const { id } of createPlants(30)) {
    const add = async (name: string) => {
      const added = plant(id, name);
      const [outcome] = await writer.add([added]);
      const stored = outcome?.kind === 'conflict' ? outcome.stored : added;
      await assertSeen(stored);
      return stored;
    };
    // The calls that start before the plant is added may miss it, but not what later calls return.
    const early = [reader.find(id), reader.read(id, 1)];
    const [stored] = await Promise.all([add('one'), add('two'), ...early, reader.find(id)]);
    await assertSeen(stored);
    await assertFound(reader, [stored]);
  }
}

function assertBatch(batch: readonly Plant[], limit: number): readonly Plant[] {
  if (!Array.isArray(batch) || batch.length > limit)
    throw new ContractViolation(`read must return an array of at most ${limit} plants, got ${describe(batch)}`);
  batch.forEach(assertPlant);
  return batch;
}

/**
 * Asserts that a reader returns every plant or throws StorageUnavailable.
 * @param interrupt Called after the first batch with a function that continues reading.
 */
export async function assertCompleteOrUnavailable(
  repository: PlantReader,
  expected: readonly Plant[],
  interrupt: (readRest: () => Promise<void>) => Promise<unknown> = (readRest) => readRest(),
): Promise<void> {
  const reader = readBatches(repository);
  const read: Plant[] = [];
  let isDone: boolean | undefined = false;
  const readNext = async () => {
    const result = await reader.next();
    if (!result.done) read.push(...result.value);
    isDone = result.done || read.length > expected.length;
  };
  const isComplete = await isAvailable(async () => {
    await readNext();
    await interrupt(async () => {
      while (!isDone) await readNext();
    });
  });
  if (isComplete) assertEqual(read, expected, 'plants of a reader that ended without an error');
}

/** Asserts that `reader` reads every earlier plant once, ordered by id, while `writer` adds others. */
export async function assertReadsDuringAdds(reader: PlantRepository, writer: PlantWriter): Promise<void> {
  const earlier = Array.from({ length: 2500 }, (_, index) => plant(BigInt(2 * index), 'earlier'));
  await addAll(reader, earlier);
  const read: Plant[] = [];
  const expected = [...earlier];
  let [later, last] = [1n, MIN_PLANT_ID];
  const addMore = async (name: string) => {
    if (later > 40n) return [];
    const added = [-later, later, 4900n + later].map((id) => plant(id, name));
    later += 2n;
    await addAll(writer, added);
    return added;
  };
  const batches = readBatches(reader);
  while (read.length <= 2 * earlier.length) {
    // The next call of read sees these plants.
    for (const each of await addMore('added before')) if (each.id > last) expected.push(each);
    // It may see those that are added meanwhile.
    const [{ value: batch = [] }] = await Promise.all([batches.next(), addMore('added meanwhile')]);
    if (batch.length === 0) break;
    read.push(...batch);
    last = batch.at(-1)?.id ?? last;
  }
  assertEqual(read, sortById([...new Map(read.map((each) => [each.id, each])).values()]), 'plants read during adds');
  const earlierRead = read.filter(({ name }) => name !== 'added meanwhile');
  assertEqual(earlierRead, sortById(expected), 'plants read that were added before the call of read');
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

function sortById(plants: readonly Plant[]): Plant[] {
  return [...plants].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Asserts that an adapter in JavaScript, too, returned a plant. Another copy of the core may have created it. */
function assertPlant(value: Plant): Plant {
  if (typeof value?.equals === 'function' && Plant.from(value).kind === 'valid') return value;
  throw new ContractViolation(`expected a plant created by Plant.from, got ${describe(value)}`);
}
