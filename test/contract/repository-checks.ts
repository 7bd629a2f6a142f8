/** What the cases of plant repositories share: opening and closing, and assertions about plants. */
import { type AddOutcome, isPlantStoreError, Plant, type PlantRepository } from '../../core/index.js';
import { TEXT_FIELDS } from './sample-plants.js';
import {
  assertEqual,
  assertFunction,
  assertSameElements,
  ContractViolation,
  describe,
  InvalidHarness,
  isSettledWithin,
  pause,
} from './contract.js';
import { countTimers } from './host.js';
import { CONFIDENTIAL, plant } from './sample-plants.js';

/** A repository, and what the owner of its storage calls. */
export interface OpenPlantRepository extends PlantRepository {
  /**
   * Checks that the storage can be read and, after an `add` that threw `StorageUnavailable`, written. Stores no plant.
   * Throws `StorageUnavailable` if it cannot.
   */
  ready(): Promise<void>;
  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
}

/** Gives the cases access to an adapter. */
export interface PlantRepositoryHarness {
  /** Opens a repository on new, empty storage. The case closes it. */
  open(): Promise<OpenPlantRepository>;
  /**
   * For plants that survive a restart: reopens the storage that `open` or `reopen` opened last, in its current state. The
   * previous repository may still be open, as after a crash; if the storage can be open only once, open a copy. The case
   * closes both.
   */
  reopen?(): Promise<OpenPlantRepository>;
  /**
   * For storage that several processes can open: opens the storage of the last `open` once more, while the other
   * repositories have it open, with its own connection or file handle. The case closes it.
   */
  openAnother?(): Promise<OpenPlantRepository>;
  /**
   * Makes the storage of the last `open` unavailable, at least for `add`, runs `work`, and restores the storage. May wait
   * until the repository is connected again; otherwise the cases wait up to ten seconds. Rejects if `work` rejects.
   */
  whileUnavailable?(work: () => Promise<void>): Promise<void>;
  /** Returns a plant that the storage rejects: for example, one that is too long for it, or that a constraint excludes. */
  rejectedPlant?(): Plant;
}

/** A harness that has certain optional members. */
export type HarnessWith<Member extends keyof PlantRepositoryHarness> = PlantRepositoryHarness &
  Required<Pick<PlantRepositoryHarness, Member>>;

/** Maximum time to close a repository after its case has failed, in milliseconds. */
const CLOSE_AFTER_FAILURE_MS = 1000;
/** Maximum time for timers to end after `close`, in milliseconds. Some drivers close their connections in the background. */
const TIMERS_END_MS = 3000;
/** Repositories opened to find leaked timers, one each. The rest of the process starts fewer timers meanwhile. */
const TIMER_ROUNDS = 4;
/** Minimum length of a plant's value to look for in a message: shorter ones may appear by chance. */
const MIN_CONFIDENTIAL_LENGTH = 6;

/** Calls a function of the harness that opens a repository, runs `check` with it, and closes it. */
export async function useRepository<Name extends string>(
  harness: Readonly<Record<Name, () => Promise<OpenPlantRepository>>>,
  name: Name,
  check: (repository: OpenPlantRepository) => Promise<void>,
): Promise<void> {
  assertFunction(harness, name);
  const repository = await harness[name]();
  for (const method of ['add', 'readAll', 'ready', 'close'] as const)
    if (typeof repository?.[method] !== 'function')
      throw new InvalidHarness(`${name}() must resolve to a PlantRepository, but it has no ${method}()`);
  try {
    await check(repository);
  } catch (error) {
    // The first failure is the one to report.
    await isSettledWithin(CLOSE_AFTER_FAILURE_MS, repository.close()).catch(() => {});
    throw error;
  }
  await repository.close();
}

export type OutcomeTuple = readonly ['added' | 'rejected'] | readonly ['taken', holder: Plant];

/** Adds `batch` and asserts the outcomes. */
export async function assertOutcomes(
  repository: PlantRepository,
  batch: readonly Plant[],
  expected: readonly OutcomeTuple[],
): Promise<void> {
  const outcomes = await repository.add(batch);
  if (!Array.isArray(outcomes)) throw new ContractViolation(`add must resolve to an array, got ${describe(outcomes)}`);
  if (outcomes.length !== batch.length)
    throw new ContractViolation(`add returned ${outcomes.length} outcomes for ${batch.length} plants`);
  assertSameElements(outcomes.map(toTuple), expected, 'outcomes', areSameOutcomes);
}

function areSameOutcomes([kind, holder]: OutcomeTuple, [expectedKind, expectedHolder]: OutcomeTuple): boolean {
  return kind === expectedKind && (holder === expectedHolder || (!!expectedHolder && !!holder?.equals(expectedHolder)));
}

/** Adds plants whose ids are free. */
export async function addAll(repository: PlantRepository, candidates: readonly Plant[]): Promise<void> {
  await assertOutcomes(
    repository,
    candidates,
    candidates.map(() => ['added']),
  );
}

/** Adds plants to several repositories concurrently, asserts that each id has exactly one winner, and returns the winners. */
export async function addConcurrently(
  calls: readonly (readonly [PlantRepository, readonly Plant[]])[],
): Promise<readonly Plant[]> {
  const outcomes = await Promise.all(calls.map(([repository, batch]) => repository.add(batch)));
  const attempts = calls.flatMap(([, batch], index) =>
    batch.map((candidate, position) => ({ candidate, outcome: outcomes[index]?.[position] })),
  );
  const winners = attempts.filter(({ outcome }) => outcome?.kind === 'added').map(({ candidate }) => candidate);
  const ids = new Set(attempts.map(({ candidate }) => candidate.id));
  assertEqual(winners.map(({ id }) => id).sort(ascending), [...ids].sort(ascending), 'ids reported as added');
  const winnerOf = new Map(winners.map((winner) => [winner.id, winner]));
  for (const { candidate, outcome } of attempts) {
    const winner = winnerOf.get(candidate.id);
    const expected = winner === candidate ? ['added'] : ['taken', winner];
    assertEqual(outcome && toTuple(outcome), expected, `the outcome of ${describe(candidate)}`);
  }
  return winners;
}

/** Asserts that adding other plants under the ids of `stored` returns `stored` as holders. */
export async function assertHolders(repository: PlantRepository, stored: readonly Plant[]): Promise<void> {
  await assertOutcomes(
    repository,
    stored.map(({ id }) => plant(id, 'another plant')),
    stored.map((holder) => ['taken', holder]),
  );
}

/** Reads every plant. */
export async function readPlants(repository: PlantRepository): Promise<Plant[]> {
  const read: Plant[] = [];
  for await (const batch of repository.readAll()) read.push(...assertBatch(batch));
  return read;
}

/** Asserts that the repository stores exactly these plants and reads them ordered by id. */
export async function assertContent(
  repository: PlantRepository,
  expected: readonly Plant[],
  what = 'plants read',
): Promise<void> {
  const read: Plant[] = [];
  for await (const batch of repository.readAll()) {
    read.push(...assertBatch(batch));
    if (read.length > expected.length) break;
  }
  assertSameElements(read, sortById(expected), what, (a, b) => a.equals(b));
}

/** Asserts that a reader returned real plants, and at least one. */
export function assertBatch(batch: readonly Plant[]): readonly Plant[] {
  assertPlants(batch);
  if (batch.length === 0) throw new ContractViolation('readAll returned an empty batch');
  return batch;
}

/**
 * Asserts that a reader returns every plant or throws StorageUnavailable.
 * @param interrupt Called after the first batch with a function that continues reading.
 */
export async function assertCompleteOrUnavailable(
  repository: PlantRepository,
  expected: readonly Plant[],
  interrupt: (readRest: () => Promise<void>) => Promise<void> = (readRest) => readRest(),
): Promise<void> {
  const reader = repository.readAll()[Symbol.asyncIterator]();
  const read: Plant[] = [];
  /** Returns whether there may be more. */
  const readNext = async () => {
    const { done, value } = await reader.next();
    if (!done) read.push(...assertBatch(value));
    return !done && read.length <= expected.length;
  };
  const isComplete = await isAvailable(async () => {
    if (await readNext())
      await interrupt(async () => {
        while (await readNext());
      });
  });
  if (isComplete)
    assertSameElements(read, sortById(expected), 'plants read until the reader ended', (a, b) => a.equals(b));
}

/** Asserts that `reader` reads every earlier plant once, ordered by id, while `writer` adds others between its batches. */
export async function assertReadsDuringAdds(reader: PlantRepository, writer: PlantRepository): Promise<void> {
  const before = Array.from({ length: 2500 }, (_, index) => plant(BigInt(2 * index), 'before'));
  await addAll(reader, before);
  const read: Plant[] = [];
  let batches = 0;
  for await (const batch of reader.readAll()) {
    read.push(...assertBatch(batch));
    if (read.length > before.length * 2) throw new ContractViolation('readAll returned more plants than are stored');
    if (batches++ < 10) await writer.add([-1n, 1n, 3001n + 2n * BigInt(batches)].map((id) => plant(id, 'meanwhile')));
  }
  const ids = read.map(({ id }) => id);
  assertSameElements(ids, [...new Set(ids)].sort(ascending), 'ids that were read', (a, b) => a === b);
  const earlier = read.filter(({ name }) => name === 'before');
  assertSameElements(earlier, before, 'plants added before', (a, b) => a.equals(b));
}

/** Returns whether `work` succeeded, or `false` if it threw StorageUnavailable. */
export async function isAvailable(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isPlantStoreError(error, 'STORAGE_UNAVAILABLE')) return false;
    if (error instanceof ContractViolation || error instanceof InvalidHarness) throw error;
    throw new ContractViolation(`expected StorageUnavailable, got ${error}`);
  }
}

/**
 * Asserts that neither the message of an error nor those of the core's errors in its `cause` chain contain a value of a
 * plant. Other causes may be errors of a driver, whose messages the log drops.
 */
export function assertConfidential(error: unknown, plant: Plant = CONFIDENTIAL): void {
  const values = [`${plant.id}`, ...TEXT_FIELDS.map((field) => plant[field] ?? '')].filter(
    (value) => value.length >= MIN_CONFIDENTIAL_LENGTH,
  );
  for (let cause = error, first = true; cause instanceof Error; cause = cause.cause, first = false) {
    const { message } = cause;
    if (!first && !isPlantStoreError(cause)) continue;
    if (values.some((value) => message.includes(value)))
      throw new ContractViolation(`the message of ${cause.name} contains a value of a plant`);
  }
}

/** Asserts that a repository that `openAndClose` opens and closes leaves no timer running. */
export async function assertTimersEnd(openAndClose: () => Promise<void>): Promise<void> {
  // The first repository starts what a driver or the harness shares between repositories.
  await openAndClose();
  const timersBefore = countTimers();
  for (let round = 0; round < TIMER_ROUNDS; round++) await openAndClose();
  const deadline = Date.now() + TIMERS_END_MS;
  while (countTimers() >= timersBefore + TIMER_ROUNDS) {
    if (Date.now() > deadline)
      throw new ContractViolation('close leaves a timer running, which keeps the process from exiting');
    await pause(10);
  }
}

export function sortById(plants: readonly Plant[]): Plant[] {
  return [...plants].sort((a, b) => ascending(a.id, b.id));
}

export function ascending<Id extends Plant['id'] | bigint>(a: Id, b: Id): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function toTuple(outcome: AddOutcome): OutcomeTuple {
  if (outcome?.kind !== 'taken') return [outcome?.kind];
  assertPlants([outcome.holder]);
  return [outcome.kind, outcome.holder];
}

function assertPlants(values: readonly Plant[]): void {
  if (!Array.isArray(values) || !values.every(isPlant))
    throw new ContractViolation(`expected plants created by Plant.from, got ${describe(values)}`);
}

/** Returns whether JavaScript code, too, has passed a plant. Another copy of the core may have created it. */
export function isPlant(value: Plant): boolean {
  return typeof value?.equals === 'function' && Plant.from(value).kind === 'valid';
}
