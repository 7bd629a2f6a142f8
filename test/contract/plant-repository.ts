import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant, type PlantStorage } from '../../core/index.js';
import { assertEqual, assertRejects, type Cases, ContractViolation, InvalidHarness, pause } from './contract.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertHolders,
  assertOneWinnerPerId,
  assertOutcomes,
  assertReadsDuringAdds,
  assertTimersEnd,
  isAvailable,
  readPlants,
  toExpected,
} from './repository-checks.js';
import type { TestStorage } from './repository-harness.js';
import {
  CONFIDENTIAL,
  createPlants,
  PLANTS_WITH_IDS,
  PLANTS_WITH_TEXTS,
  plant,
  READ_COUNTS,
  RIVALS,
} from './sample-plants.js';

/** More calls than any usual pool has connections. */
const MANY_CALLS = 130;

/** Cases for every repository. */
export const repositoryCases: Cases<TestStorage> = {
  'is empty and ready after opening, and ready stores no plant': async ({ repository, open }) => {
    await repository.ready();
    await repository.ready();
    await assertOutcomes(repository, [], []);
    await assertContent(repository, []);
    await addAll(repository, [plant(1n, 'Monstera')]);
    if ((await readPlants(await open())).length > 0)
      throw new InvalidHarness(
        'open() must open new, empty storage each time, but it has plants the second time (or the adapter shares plants between repositories)',
      );
  },

  // Ids and strings

  'stores ids exactly, at both ends of int64 and around 2^53': ({ repository }) =>
    assertStored(repository, PLANTS_WITH_IDS),

  'stores strings code point for code point, and an absent tag as absent': ({ repository }) =>
    assertStored(repository, PLANTS_WITH_TEXTS),

  // Outcomes

  'never changes a stored plant, and returns it as holder for similar ones': async ({ repository }) => {
    await addAll(repository, PLANTS_WITH_TEXTS);
    const [holders, rivals] = [RIVALS.map(([holder]) => holder), RIVALS.map(([, rival]) => rival)];
    await assertOutcomes(repository, rivals, holders);
    await assertContent(repository, PLANTS_WITH_TEXTS);
  },

  'adds the first of several plants with the same id in a batch': async ({ repository }) => {
    const [firsts, rivals] = [PLANTS_WITH_TEXTS, RIVALS.map(([, rival]) => rival)];
    const expected = [...firsts.map(() => 'added' as const), ...RIVALS.map(([holder]) => holder), ...firsts];
    await assertOutcomes(repository, [...firsts, ...rivals, ...firsts], expected);
    await assertContent(repository, firsts);
  },

  'returns an outcome per plant in their order, and does not modify it later': async ({ repository }) => {
    const [one, two, three, four] = [plant(1n, 'one'), plant(2n, 'two'), plant(3n, 'three', 'indoor'), plant(4n, '4')];
    await addAll(repository, [one, three]);
    const outcomes = await repository.add([four, ...[3n, 4n, 1n, 3n].map((id) => plant(id, 'other')), two]);
    await assertOutcomes(repository, [plant(4n, 'other'), plant(5n, 'five')], [four, 'added']);
    const expected = ['added', three, four, one, three, 'added'];
    assertEqual(toExpected(outcomes), expected, 'outcomes of the first call, after another call');
    await assertContent(repository, [one, two, three, four, plant(5n, 'five')]);
  },

  'does not modify the array that the caller passed': async ({ repository }) => {
    const batch = [3n, 1n, 2n, 1n].map((id) => plant(id, 'Monstera'));
    const given = [...batch];
    await repository.add(batch);
    assertEqual(batch, given, 'the array after add');
    await addAll(repository, Object.freeze([plant(6n, 'Aloe'), plant(5n, 'Aloe')]));
  },

  'adds the plants that the array held when add was called': async ({ repository }) => {
    const batch = [plant(1n, 'one')];
    const adding = repository.add(batch);
    batch[0] = plant(2n, 'two');
    batch.push(plant(3n, 'three'));
    assertEqual(toExpected(await adding), ['added'], 'outcomes for an array that the caller changes later');
    await assertContent(repository, [plant(1n, 'one')]);
  },

  // Concurrency

  'adds each id once for concurrent calls and overlapping batches': async ({ repository }) => {
    const single = createPlants(100).map(({ name }, call) => [repository, [plant(-7n, name, `${call % 3}`)]] as const);
    const batches = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n].map((call) => {
      const batch = createPlants(32, 4n * call).map(({ id }) => plant(id, `of call ${call}`));
      return [repository, call % 2n === 0n ? batch : batch.reverse()] as const;
    });
    await assertOneWinnerPerId([...single, ...batches]);
  },

  // Reading

  'reads every plant once, ordered by id, for each of several readers': async ({ repository }) => {
    const shuffled = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500));
    const ids = shuffled.flatMap((id) => [MIN_PLANT_ID + id, (id - 750n) * 3n, MAX_PLANT_ID - id]);
    const plants = ids.map((id) => plant(id, `plant ${id}`));
    for (let start = 0; start < plants.length; start += 1000)
      await addAll(repository, plants.slice(start, start + 1000));
    await Promise.all([1, 2, 3].map(() => assertContent(repository, plants)));
  },

  'reads every earlier plant once, ordered by id, during concurrent adds': ({ repository }) =>
    assertReadsDuringAdds(repository, repository),

  'leaves batches to the reader, who may keep and modify them': async ({ repository }) => {
    const plants = createPlants(2500);
    await addAll(repository, plants);
    const batches: (readonly Plant[])[] = [];
    for await (const batch of repository.readAll()) batches.push(batch);
    assertEqual(batches.flat(), plants, 'plants of all batches after reading');
    for (const batch of batches) Reflect.set(batch, 0, batch[1]);
    await assertContent(repository, plants, 'plants read after another reader has changed its batches');
  },

  [`keeps working after ${MANY_CALLS} calls of each kind`]: async ({ repository }) => {
    const stored = createPlants(1100);
    await addAll(repository, stored);
    for (let round = 0; round < MANY_CALLS; round++) {
      await assertHolders(repository, stored.slice(0, 1));
      await repository.ready();
      // Readers that stop early, or before they start, must release what they hold.
      for await (const _ of repository.readAll()) break;
      await repository.readAll()[Symbol.asyncIterator]().return?.();
      await readPlants(repository);
    }
    await addAll(repository, [plant(1100n, 'later')]);
  },

  // Closing

  'close is idempotent, and each later call throws StorageUnavailable': async ({ repository }) => {
    await addAll(repository, [CONFIDENTIAL]);
    await Promise.all([repository.close(), repository.close()]);
    const calls = {
      add: () => repository.add([CONFIDENTIAL]),
      'add of an empty batch': () => repository.add([]),
      readAll: () => repository.readAll()[Symbol.asyncIterator]().next(),
      ready: () => repository.ready(),
    };
    for (const [name, call] of Object.entries(calls))
      assertConfidential(await assertRejects(`${name} after close`, 'STORAGE_UNAVAILABLE', call));
  },

  'close waits for add calls in flight': async ({ repository }) => {
    const holder = plant(1n, 'Monstera');
    await addAll(repository, [holder]);
    let isClosed = false;
    const adding = createPlants(40, 2n).map(async (candidate) => {
      await assertOutcomes(repository, [plant(1n, 'Ficus'), candidate], [holder, 'added']);
      if (isClosed) throw new ContractViolation('close resolved before an add call in flight');
    });
    const closing = repository.close().then(async () => {
      // Tolerates calls that resolve in the same turn as close.
      for (let turn = 0; turn < 1000; turn++) await undefined;
      isClosed = true;
    });
    await Promise.all([...adding, closing]);
  },

  'a reader that continues after close reads every plant or throws StorageUnavailable': async ({ repository }) => {
    const plants = createPlants(2500);
    await addAll(repository, plants);
    await assertCompleteOrUnavailable(repository, plants, async (readRest) => {
      const closing = repository.close();
      await readRest().finally(() => closing);
    });
  },

  'leaves no rejection unhandled': async ({ repository }) => {
    await addAll(repository, createPlants(2500));
    const reader = repository.readAll()[Symbol.asyncIterator]();
    await reader.next();
    const closing = repository.close();
    await isAvailable(() => repository.add([plant(-1n, 'late')]));
    await reader.return?.();
    await closing;
    // Gives background work time to reject.
    await pause(50);
  },

  'close leaves no timer running': ({ open }) =>
    assertTimersEnd(async () => {
      const repository = await open();
      await addAll(repository, [plant(1n, 'Monstera')]);
      for await (const _ of repository.readAll()) break;
      await repository.ready();
      await repository.close();
    }),
};

/** Cases for every repository that take longer. */
export const volumeCases: Cases<TestStorage> = {
  'stores strings of a megabyte, many of them in one batch': async ({ repository }) => {
    const large = createPlants(18).map(({ id }) => plant(id, `${id} ${'🌵'.repeat(2 ** 18)}`));
    await assertStored(repository, [plant(-1n, 'Monstera', 'é'.repeat(2 ** 19)), ...large]);
  },

  // Exceeds the 65,535 parameters of one SQL statement, and the usual limits on the result of a query.
  'stores 70,000 plants in one batch': ({ repository }) => assertStored(repository, createPlants(70_000)),

  'reads every plant if the count is a common page size, or one more': async ({ repository }) => {
    const stored: Plant[] = [];
    for (const count of READ_COUNTS) {
      const more = createPlants(count - stored.length, BigInt(stored.length));
      await addAll(repository, more);
      stored.push(...more);
      await assertContent(repository, stored, `plants read of ${count}`);
    }
  },
};

/** Asserts that plants are added, returned as holders, and read. */
async function assertStored(repository: PlantStorage, plants: readonly Plant[]): Promise<void> {
  await addAll(repository, plants);
  await assertHolders(repository, plants);
  await assertContent(repository, plants);
}
