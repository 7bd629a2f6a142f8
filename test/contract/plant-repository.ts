import {
  type AddOutcome,
  isStorageUnavailable,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  Plant,
  type PlantRepository,
} from '@plant-store/core';
import { assertEqual, assertRejects, type Cases, ContractViolation, describe } from './contract.js';
import {
  addAll,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertFound,
  assertFree,
  assertHolders,
  assertOutcomes,
  assertRaces,
  assertReadsDuringAdds,
  assertSameOutcomes,
  assertSeesAdds,
  assertTimersEnd,
  type Expected,
  isAvailable,
  readBatches,
  readPlants,
  toOther,
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
  SCATTERED_PLANTS,
} from './sample-plants.js';

/** Cases for every repository. */
export const repositoryCases: Cases<TestStorage> = {
  'is empty and ready after opening, and ready stores no plant': async ({ repository, open }) => {
    await repository.ready();
    await repository.ready();
    await assertOutcomes(repository, [], []);
    await assertContent(repository, []);
    const stored = [MIN_PLANT_ID, -1n, 0n, 1n, MAX_PLANT_ID].map((id) => plant(id, 'Monstera'));
    await addAll(repository, stored);
    await repository.ready();
    await assertContent(repository, stored, 'plants read after ready');
    await assertContent(
      await open(),
      [],
      'plants in new storage (open() of the harness must open other storage each time)',
    );
  },

  'stores ids exactly, at both ends of int64 and around 2^53': ({ repository }) =>
    assertStored(repository, PLANTS_WITH_IDS),

  'stores strings code point for code point, and an absent tag as absent': ({ repository }) =>
    assertStored(repository, PLANTS_WITH_TEXTS),

  'never changes a stored plant, and returns it as stored for similar ones': async ({ repository }) => {
    await addAll(repository, PLANTS_WITH_TEXTS);
    const [stored, rivals] = [RIVALS.map(([stored]) => stored), RIVALS.map(([, rival]) => rival)];
    await assertOutcomes(repository, rivals, stored);
    await assertContent(repository, PLANTS_WITH_TEXTS);
  },

  'adds the first of several plants with the same id in a batch': async ({ repository }) => {
    const [firsts, rivals] = [PLANTS_WITH_TEXTS, RIVALS.map(([, rival]) => rival)];
    const expected = [...firsts.map(() => 'added' as const), ...RIVALS.map(([stored]) => stored), ...firsts];
    await assertOutcomes(repository, [...firsts, ...rivals, ...firsts], expected);
    await assertContent(repository, firsts);
  },

  'returns an outcome per plant in their order, and does not modify it later': async ({ repository }) => {
    const [one, two, three, four] = [plant(1n, 'one'), plant(2n, 'two'), plant(3n, 'three', 'tag'), plant(4n, 'four')];
    await addAll(repository, [one, three]);
    const outcomes = await repository.add([four, ...[3n, 4n, 1n, 3n].map((id) => plant(id, 'other')), two]);
    await assertOutcomes(repository, [plant(4n, 'other'), plant(5n, 'five')], [four, 'added']);
    // The outcomes of the first call, after another call.
    assertSameOutcomes(outcomes, ['added', three, four, one, three, 'added']);
    await assertContent(repository, [one, two, three, four, plant(5n, 'five')]);
    await assertFound(repository, [one, two, three, four, plant(5n, 'five')]);
  },

  'adds the plants that the array held when add was called, and does not modify it': async ({ repository }) => {
    const batch = [3n, 1n, 2n, 1n].map((id) => plant(id, 'Monstera'));
    const given = [...batch];
    await repository.add(batch);
    assertEqual(batch, given, 'the array after add');
    await addAll(repository, Object.freeze([plant(6n, 'Aloe'), plant(5n, 'Aloe')]));
    batch[0] = plant(7n, 'held');
    const adding = repository.add(batch);
    batch[0] = plant(8n, 'changed later');
    batch.push(plant(9n, 'added later'));
    assertSameOutcomes(await adding, ['added', ...given.slice(1, 3), ...given.slice(1, 2)]);
    await assertHolders(repository, [plant(7n, 'held')]);
  },

  'adds each id once for concurrent calls and overlapping batches': ({ repository }) =>
    assertRaces(repository, repository),

  'finds a plant once it was added, and nothing under a free id': async ({ repository }) => {
    const isFree = (id: bigint) => !PLANTS_WITH_IDS.some((stored) => stored.id === id);
    const freeIds = PLANTS_WITH_IDS.flatMap(({ id }) => [id - 2n, id + 2n])
      .filter(isFree)
      .filter((id) => BigInt.asIntN(64, id) === id);
    const ids = PLANTS_WITH_IDS.map(({ id }) => id);
    await assertFree(repository, ids);
    await addAll(repository, PLANTS_WITH_IDS);
    await assertFound(repository, PLANTS_WITH_IDS);
    await assertFree(repository, freeIds);
  },

  'reads the plants from an id on, whether or not a plant has it': async ({ repository }) => {
    const stored = [MIN_PLANT_ID, -3n, 0n, 9_007_199_254_740_993n, MAX_PLANT_ID].map((id) => plant(id, 'Monstera'));
    await addAll(repository, stored);
    const ids = stored.flatMap(({ id }) => [id - 1n, id, id + 1n]).filter((id) => BigInt.asIntN(64, id) === id);
    for (const from of ids) {
      const read = await repository.read(from, 5);
      const expected = stored.filter(({ id }) => id >= from);
      assertEqual(read, expected.slice(0, Math.max(read.length, 1)), `plants from ${from} on`);
    }
  },

  'reads at most a given number of plants at once': async ({ repository }) => {
    const stored = createPlants(30);
    await addAll(repository, stored);
    for (const batchSize of [1, 7, 29, 30, 31, 100_000, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const plants: Plant[] = [];
      for await (const batch of readBatches(repository, undefined, batchSize)) plants.push(...batch);
      assertEqual(plants, stored, `plants read in batches of ${batchSize}`);
    }
  },

  'reads every plant once, ordered by id, for each of several readers': async ({ repository }) => {
    await addAll(repository, SCATTERED_PLANTS);
    const batchSizes = [1000, 1000, 700, 4000];
    await Promise.all(batchSizes.map((size) => assertContent(repository, SCATTERED_PLANTS, 'plants read', size)));
  },

  'reads every earlier plant once, ordered by id, during concurrent adds': ({ repository }) =>
    assertReadsDuringAdds(repository, repository),

  'finds and reads every plant that was added before the call, whatever else is in flight': ({ repository }) =>
    assertSeesAdds(repository, repository),

  'leaves batches to the reader, who may keep and modify them': async ({ repository }) => {
    const plants = createPlants(2500);
    await addAll(repository, plants);
    for (const batchSize of [1000, 5000]) {
      const batches: (readonly Plant[])[] = [];
      for await (const batch of readBatches(repository, undefined, batchSize)) batches.push(batch);
      assertEqual(batches.flat(), plants, 'plants of all batches after reading');
      for (const batch of batches)
        if (!Reflect.set(batch, 0, batch[1])) throw new ContractViolation('the array that read returned is frozen');
      await assertContent(repository, plants, 'plants read after another reader has changed its batches', batchSize);
    }
  },

  'keeps working after 130 calls of each kind': async ({ repository }) => {
    const stored = createPlants(1100);
    await addAll(repository, stored);
    // More than any usual pool has connections.
    for (let round = 0; round < 130; round++) {
      await Promise.all([
        assertHolders(repository, stored.slice(0, 1)),
        repository.ready(),
        assertFound(repository, stored.slice(0, 1)),
        readPlants(repository),
      ]);
    }
    await addAll(repository, [plant(1100n, 'later')]);
  },

  'close is idempotent, and each later call throws StorageUnavailable': async ({ repository }) => {
    const calls = {
      find: () => repository.find(CONFIDENTIAL.id),
      read: () => repository.read(CONFIDENTIAL.id, 1),
      ready: () => repository.ready(),
      add: () => repository.add([CONFIDENTIAL]),
      'add of an empty batch': () => repository.add([]),
    };
    await addAll(repository, [CONFIDENTIAL]);
    // A cache may remember the results.
    for (const call of [calls.ready, calls.find, calls.read]) await call();
    await Promise.all([repository.close(), repository.close()]);
    for (const [name, call] of Object.entries(calls))
      assertConfidential(await assertRejects(`${name} after close`, isStorageUnavailable, call));
  },

  'close waits for calls in flight': async ({ repository }) => {
    const stored = plant(1n, 'Monstera');
    await addAll(repository, [stored]);
    let isClosed = false;
    const assertWaits = async (name: string, call: () => Promise<unknown>) => {
      await call();
      if (isClosed) throw new ContractViolation(`close resolved before ${name} in flight`);
    };
    const adding = createPlants(40, 2n).map((candidate) =>
      assertWaits('add', () => assertOutcomes(repository, [plant(1n, 'Ficus'), candidate], [stored, 'added'])),
    );
    // They may throw StorageUnavailable.
    const reading = [
      assertWaits('find', () => isAvailable(() => repository.find(1n))),
      assertWaits('read', () => isAvailable(() => repository.read(1n, 10))),
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
    await addAll(repository, plants);
    await assertCompleteOrUnavailable(repository, plants, async (readRest) => {
      const reading = readRest();
      const finding = isAvailable(() => assertFound(repository, plants.slice(0, 1)));
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
      await addAll(repository, [plant(1n, 'Monstera')]);
      await assertHolders(repository, [plant(1n, 'Monstera')]);
      await assertFound(repository, [plant(1n, 'Monstera')]);
      await readPlants(repository);
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

  // MEDIUMTEXT of MySQL ends there. A storage may have another limit, at which it rejects the plant or fails.
  'stores a string of more than 16 MB whole, or not at all': async ({ repository }) => {
    const large = plant(1n, `${'x'.repeat(2 ** 24)} end`);
    let outcomes: readonly AddOutcome[] = [];
    await isAvailable(async () => {
      outcomes = await repository.add([large]);
    });
    const stored = outcomes[0]?.kind === 'added' ? [large] : [];
    await assertContent(repository, stored);
    await assertFound(repository, stored);
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
    for (const batchSize of [4000, 100_000])
      await assertContent(repository, stored, `plants read, up to ${batchSize} at once`, batchSize);
  },
};

/** Cases for repositories whose storage several processes can open. */
export const sharedCases: Cases<TestStorage> = {
  'reads and returns as stored what others added, which are opened, used and closed': async (storage) => {
    const { repository, openAnother } = storage;
    const what = 'plants read that another repository added (if none, openAnother() may open other storage)';
    for (let id = 0n; id < 20n; id += 2n) {
      const another = await openAnother();
      assertEqual(await repository.find(id), undefined, 'the plant found before another repository adds it');
      await addAll(another, [plant(id, 'another')]);
      await assertFound(repository, [plant(id, 'another')]);
      await assertHolders(repository, [plant(id, 'another')]);
      await addAll(repository, [plant(id + 1n, 'own')]);
      await assertHolders(another, [plant(id + 1n, 'own')]);
      assertEqual(await readPlants(another), await readPlants(repository), what);
      await another.close();
      await repository.ready();
    }
  },

  'adds each id once for concurrent calls and overlapping batches of both': async ({ repository, openAnother }) =>
    assertRaces(repository, await openAnother()),

  'reads every earlier plant once while another repository adds plants': async ({ repository, openAnother }) =>
    assertReadsDuringAdds(repository, await openAnother()),

  'finds and reads every plant that another repository added before the call': async ({ repository, openAnother }) =>
    assertSeesAdds(repository, await openAnother()),
};

/** Cases for repositories whose storage rejects some plants. */
export const rejectingCases: Cases<TestStorage> = {
  'returns rejected with an Error that reveals no value of the plant': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const [outcome] = await repository.add([rejected]).catch((error: unknown) => {
      throw new ContractViolation(`add must return the outcome rejected, but it threw ${error}`);
    });
    if (outcome?.kind !== 'rejected')
      throw new ContractViolation(
        `expected rejected, got ${describe(outcome)} (can the storage store rejectedPlant()?)`,
      );
    if (!(outcome.error instanceof Error))
      throw new ContractViolation(`the error of a rejected plant must be an Error, got ${describe(outcome.error)}`);
    assertConfidential(outcome.error, rejected);
  },

  'adds or finds the other plants of a batch': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    for (const [index, position] of [0, 1, 250, 499].entries()) {
      const others = createOthers(rejected, 499, 500 * index);
      await addAll(repository, others.slice(0, 1));
      const expected = others
        .map((other, at): Expected => (at === 0 ? other : 'added'))
        .toSpliced(position, 0, 'rejected');
      await assertOutcomes(repository, others.toSpliced(position, 0, rejected), expected);
    }
  },

  'adds another plant with the id of a rejected one in the same batch': async ({ repository, open, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const [other, later] = [toOther(rejected), plant(rejected.id, 'later')];
    // The storage may reject any plant with the id.
    const isFree = (await repository.add([other]))[0]?.kind === 'added';
    const expected: Expected[] = isFree ? ['added', other] : ['rejected', 'rejected'];
    const another = createOthers(rejected, 1);
    const batch = [rejected, rejected, ...another, other, later];
    const empty = await open();
    await assertOutcomes(empty, batch, ['rejected', 'rejected', 'added', ...expected]);
    await assertContent(empty, isFree ? [...another, other] : another);
  },

  'adds the plants of concurrent calls': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const added = createOthers(rejected, 30);
    const calls = added.flatMap((each, index) => (index % 10 === 0 ? [rejected, each] : [each]));
    await Promise.all(
      calls.map((each) => assertOutcomes(repository, [each], [each === rejected ? 'rejected' : 'added'])),
    );
    await assertContent(repository, added);
  },

  'rejects a plant each time, stays ready, and does not keep its id': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    // More than most pools have connections.
    for (let turn = 0; turn < 30; turn++)
      await assertOutcomes(repository, [rejected, rejected], ['rejected', 'rejected']);
    await repository.ready();
    await assertFree(repository, [rejected.id]);
    const others = createOthers(rejected, 2);
    await addAll(repository, others);
    await assertContent(repository, others);
    const result = Plant.from({ id: rejected.id, name: 'Aloe' });
    const [outcome] = result.kind === 'valid' ? await repository.add([result.plant]) : [];
    // The storage may reject the id.
    if (outcome?.kind === 'conflict') throw new ContractViolation('a rejected plant has its id');
  },
};

/** Asserts that plants are added, returned as stored, and read. */
async function assertStored(repository: PlantRepository, plants: readonly Plant[]): Promise<void> {
  await addAll(repository, plants);
  await assertHolders(repository, plants);
  await assertFound(repository, plants.slice(0, 2000));
  await assertContent(repository, plants);
}

/** Creates plants with ids from `first`, of which none is that of the rejected plant. */
function createOthers(rejected: Plant, count: number, first = 0): Plant[] {
  return createPlants(count, BigInt(first)).map((each) => (each.id === rejected.id ? plant(-1n, each.name) : each));
}
