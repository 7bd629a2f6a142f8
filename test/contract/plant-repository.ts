import { MAX_PLANT_ID, MIN_PLANT_ID, Plant, type PlantRepository, StorageUnavailable } from '../../core/index.js';
import {
  assertEqual,
  assertRejects,
  assertSameElements,
  type ContractCase,
  ContractViolation,
  contractCase,
  InvalidHarness,
  pause,
} from './contract.js';
import {
  addAll,
  addConcurrently,
  ascending,
  assertBatch,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertHolders,
  assertOutcomes,
  assertTimersEnd,
  isAvailable,
  type OutcomeTuple,
  type PlantRepositoryHarness,
  toTuple,
  useRepository,
} from './repository-checks.js';
import {
  CONFIDENTIAL,
  createPlants,
  EMPTY_WORDS,
  IDS,
  plant,
  READ_COUNTS,
  SIMILAR_PLANTS,
  TEXTS,
} from './sample-plants.js';

/** More calls than any usual pool has connections. */
const MORE_CALLS_THAN_CONNECTIONS = 130;
/** Timeout of cases with many or large plants, in milliseconds. Some engines sync each plant. */
const LARGE_TIMEOUT_MS = 300_000;

/** The contract of every plant repository. */
export const plantRepositoryContract: readonly ContractCase<PlantRepositoryHarness>[] = [
  contractCase('reads nothing from empty storage, not even an empty batch', async (harness) => {
    await useRepository(harness, 'open', async (repository) => {
      await assertContent(repository, []);
      await addAll(repository, [plant(1n, 'Monstera')]);
    });
    await useRepository(harness, 'open', async (repository) => {
      for await (const _ of repository.readAll())
        throw new InvalidHarness(
          'open() must open new, empty storage each time, but it has plants the second time (or the adapter shares plants between repositories)',
        );
    });
  }),

  // Ids and texts

  repositoryCase('stores ids exactly, at both ends of int64 and around 2^53', async (repository) => {
    const candidates = IDS.map((id) => plant(id, `${id}`));
    await addAll(repository, candidates);
    await assertHolders(repository, candidates);
    await assertContent(repository, candidates);
  }),

  repositoryCase('adds plants that differ only in the id', async (repository) => {
    const candidates = [1n, 2n, -1n].map((id) => plant(id, 'Monstera', 'indoor'));
    for (const candidate of candidates) await addAll(repository, [candidate]);
    await assertContent(repository, candidates);
  }),

  repositoryCase('stores text code point for code point', async (repository) => {
    const candidates = TEXTS.flatMap((text, index) => [
      plant(BigInt(3 * index), text, text),
      plant(BigInt(3 * index + 1), text),
      plant(BigInt(3 * index + 2), 'Monstera', text),
    ]);
    await addAll(repository, candidates);
    await assertHolders(repository, candidates);
    await assertContent(repository, candidates);
  }),

  repositoryCase('stores a text of one megabyte', async (repository) => {
    const long = plant(1n, '🌵'.repeat(2 ** 18), 'é'.repeat(2 ** 19));
    await addAll(repository, [long]);
    await assertHolders(repository, [long]);
    await assertContent(repository, [long]);
  }),

  repositoryCase('distinguishes no tag from an empty tag and from words such as null', async (repository) => {
    const candidates = [undefined, ...EMPTY_WORDS].map((tag, index) => plant(BigInt(index), 'Monstera', tag));
    await addAll(repository, candidates);
    await assertHolders(repository, candidates);
    await assertContent(repository, candidates);
  }),

  // Outcomes

  repositoryCase('returns the holder of a taken id', async (repository) => {
    const holder = plant(7n, 'Monstera', 'indoor');
    await addAll(repository, [holder]);
    await assertOutcomes(repository, [plant(7n, 'Ficus')], [['taken', holder]]);
  }),

  repositoryCase('returns taken for an identical plant', async (repository) => {
    await addAll(repository, [plant(7n, 'Monstera', 'indoor')]);
    await assertOutcomes(repository, [plant(7n, 'Monstera', 'indoor')], [['taken', plant(7n, 'Monstera', 'indoor')]]);
  }),

  repositoryCase('returns the exact holder for a plant that is similar to it', async (repository) => {
    const groups = SIMILAR_PLANTS.map((texts, group) =>
      texts.map(({ name, tag }, index) => ({ id: BigInt(100 * group + index), name, tag })),
    );
    const holders = groups.flat().map(({ id, name, tag }) => plant(id, name, tag));
    await addAll(repository, holders);
    // Each plant, under the id of each other plant of its group.
    const attempts = groups.flatMap((texts) =>
      texts.flatMap(({ id }) => texts.map(({ name, tag }) => plant(id, name, tag))),
    );
    const holderOf = new Map(holders.map((holder) => [holder.id, holder]));
    const expected = attempts.map(({ id }): OutcomeTuple => ['taken', holderOf.get(id) ?? plant(id, 'no holder')]);
    await assertOutcomes(repository, attempts, expected);
    await assertContent(repository, holders);
  }),

  repositoryCase('returns the first of similar plants with the same id in a batch as holder', async (repository) => {
    const batch = SIMILAR_PLANTS.flatMap((texts, group) =>
      texts.map(({ name, tag }) => plant(BigInt(group), name, tag)),
    );
    const firsts = SIMILAR_PLANTS.flatMap((texts, group) =>
      texts.slice(0, 1).map(({ name, tag }) => plant(BigInt(group), name, tag)),
    );
    const expected = firsts.flatMap((first, group) =>
      (SIMILAR_PLANTS[group] ?? []).map((_, index): OutcomeTuple => (index === 0 ? ['added'] : ['taken', first])),
    );
    await assertOutcomes(repository, batch, expected);
    await assertContent(repository, firsts);
  }),

  repositoryCase('never changes a stored plant', async (repository) => {
    const stored = [plant(7n, 'Monstera', 'indoor'), plant(8n, 'Aloe')];
    await addAll(repository, stored);
    await repository.add([plant(7n, 'Ficus', 'outdoor'), plant(7n, 'Monstera'), plant(8n, 'Aloe', 'outdoor')]);
    await assertContent(repository, stored);
    await assertHolders(repository, stored);
  }),

  repositoryCase('does not modify outcomes after returning them', async (repository) => {
    const [one, two] = [plant(1n, 'one'), plant(2n, 'two')];
    await addAll(repository, [one]);
    const outcomes = await repository.add([plant(1n, 'another'), two]);
    await repository.add([plant(2n, 'another'), plant(3n, 'three'), plant(1n, 'another')]);
    assertEqual(outcomes.map(toTuple), [['taken', one], ['added']], 'outcomes of the first call');
  }),

  repositoryCase('adds the other plants of a batch with a taken id', async (repository) => {
    const holder = plant(2n, 'Monstera');
    await addAll(repository, [holder]);
    const others = [plant(1n, 'before'), plant(3n, 'after')] as const;
    await assertOutcomes(
      repository,
      [others[0], plant(2n, 'Ficus'), others[1]],
      [['added'], ['taken', holder], ['added']],
    );
    await assertContent(repository, [...others, holder]);
  }),

  repositoryCase('returns the outcomes in the order of the plants', async (repository) => {
    const [one, three] = [plant(1n, 'one'), plant(3n, 'three')];
    await addAll(repository, [one, three]);
    await assertOutcomes(
      repository,
      [4n, 3n, 2n, 1n].map((id) => plant(id, 'other')),
      [['added'], ['taken', three], ['added'], ['taken', one]],
    );
  }),

  // Batches

  repositoryCase('does not modify the batch', async (repository) => {
    const given = [3n, 1n, 2n, 1n].map((id) => plant(id, 'Monstera'));
    const batch = [...given];
    await repository.add(batch);
    if (batch.length !== given.length || batch.some((candidate, index) => candidate !== given[index]))
      throw new ContractViolation('add modified the batch');
    await repository.add(Object.freeze([plant(6n, 'Aloe'), plant(5n, 'Aloe')]));
  }),

  repositoryCase('adds only the first of two plants with the same id in a batch', async (repository) => {
    const [first, second] = [plant(5n, 'first'), plant(5n, 'second', 'tag')];
    await assertOutcomes(repository, [first, second], [['added'], ['taken', first]]);
    await assertContent(repository, [first]);
  }),

  repositoryCase('returns taken for the second of two identical plants in a batch', async (repository) => {
    const twice = plant(5n, 'twice');
    await assertOutcomes(repository, [twice, twice], [['added'], ['taken', twice]]);
    await assertContent(repository, [twice]);
  }),

  repositoryCase('adds neither of two plants with a taken id in a batch', async (repository) => {
    const holder = plant(5n, 'holder');
    await addAll(repository, [holder]);
    const taken = ['taken', holder] as const;
    await assertOutcomes(
      repository,
      [plant(5n, 'first'), plant(6n, 'free'), plant(5n, 'second')],
      [taken, ['added'], taken],
    );
    await assertContent(repository, [holder, plant(6n, 'free')]);
  }),

  repositoryCase('add throws TypeError for anything but plants and stores nothing', async (repository) => {
    const [good, like] = [plant(1n, 'Monstera'), { id: 2n, name: 'Ficus', tag: undefined, equals: () => true }];
    const notPlants: readonly unknown[] = [
      ...[undefined, null, 2, 2n, 'Ficus', [], like, new Proxy(good, {})],
      Object.assign(Object.create(Plant.prototype), like, { id: 2 }),
      Object.create(good),
    ];
    const batches: readonly unknown[] = [
      ...notPlants.flatMap((notPlant) => [[notPlant], [good, notPlant], [notPlant, good]]),
      ...[undefined, null, 2, 'Ficus', good, { length: 1, 0: good }, Array(1)],
    ];
    for (const batch of batches) await assertRejects('add', TypeError, () => addUntyped(repository, batch));
    await assertContent(repository, []);
    await addAll(repository, [good]);
  }),

  repositoryCase('adds the plants that the array held when add was called', async (repository) => {
    const batch = [plant(1n, 'one')];
    const adding = repository.add(batch);
    batch[0] = plant(2n, 'two');
    batch.push(plant(3n, 'three'));
    const outcomes = await adding;
    if (outcomes.length !== 1) throw new ContractViolation(`expected 1 outcome, got ${outcomes.length}`);
    await assertContent(repository, [plant(1n, 'one')]);
  }),

  repositoryCase('returns no outcomes for an empty batch', async (repository) => {
    await assertOutcomes(repository, [], []);
    await assertContent(repository, []);
  }),

  repositoryCase(
    'adds and reads 70,000 plants in one batch',
    async (repository) => {
      // Exceeds the 65,535 parameters of one SQL statement, and the usual limits on the result of a query.
      const candidates = createPlants(70_000);
      await addAll(repository, candidates);
      await assertContent(repository, candidates);
      await assertHolders(repository, candidates);
    },
    LARGE_TIMEOUT_MS,
  ),

  repositoryCase('finds duplicate ids among thousands of plants in one batch', async (repository) => {
    const firsts = Array.from({ length: 2500 }, (_, index) => plant(BigInt(index), `first ${index}`));
    const seconds = firsts.map(({ id }) => plant(id, 'second')).reverse();
    await assertOutcomes(
      repository,
      [...firsts, ...seconds],
      [...firsts.map(() => ['added'] as const), ...[...firsts].reverse().map((holder) => ['taken', holder] as const)],
    );
    await assertContent(repository, firsts);
  }),

  repositoryCase(
    'adds many megabytes in one batch',
    async (repository) => {
      const text = '🌵'.repeat(2 ** 18);
      const candidates = Array.from({ length: 18 }, (_, index) => plant(BigInt(index), `${index} ${text}`));
      await addAll(repository, candidates);
      await assertContent(repository, candidates);
    },
    LARGE_TIMEOUT_MS,
  ),

  // Concurrency

  repositoryCase('adds each id exactly once for concurrent batches with overlapping ids', async (repository) => {
    const ids = Array.from({ length: 60 }, (_, index) => BigInt(index));
    const batches = Array.from({ length: 8 }, (_, batch) => {
      const candidates = ids.slice(batch * 4, batch * 4 + 32).map((id) => plant(id, `of batch ${batch}`));
      return batch % 2 === 0 ? candidates : candidates.reverse();
    });
    const winners = await addConcurrently(batches.map((batch) => [repository, batch]));
    await assertContent(repository, winners);
  }),

  repositoryCase('adds exactly one of a hundred concurrent plants with the same id', async (repository) => {
    const batches = Array.from({ length: 100 }, (_, index) => [plant(7n, `plant ${index % 3}`, `${index}`)]);
    const winners = await addConcurrently(batches.map((batch) => [repository, batch]));
    await assertContent(repository, winners);
  }),

  // Reading

  repositoryCase('reads every plant once, ordered by id', async (repository) => {
    const shuffled = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500));
    const ids = shuffled.flatMap((id) => [MIN_PLANT_ID + id, (id - 750n) * 3n, MAX_PLANT_ID - id]);
    const candidates = ids.map((id) => plant(id, `plant ${id}`));
    for (let start = 0; start < candidates.length; start += 1000) {
      await addAll(repository, candidates.slice(start, start + 1000));
    }
    await assertContent(repository, candidates);
    await assertContent(repository, candidates);
  }),

  repositoryCase(
    'reads every plant if the count is a multiple of a common page size, or one more or less',
    async (repository) => {
      const stored: Plant[] = [];
      for (const count of READ_COUNTS) {
        const more = createPlants(count - stored.length, BigInt(stored.length));
        await addAll(repository, more);
        stored.push(...more);
        await assertContent(repository, stored, `plants read of ${count}`);
      }
    },
    LARGE_TIMEOUT_MS,
  ),

  repositoryCase('reads every plant for each of several concurrent readers', async (repository) => {
    const candidates = createPlants(2500);
    await addAll(repository, candidates);
    await Promise.all([1, 2, 3].map(() => assertContent(repository, candidates)));
  }),

  repositoryCase('reads every plant once, ordered by id, during concurrent adds', async (repository) => {
    const before = createPlants(2500).map(({ id, name }) => plant(id * 2n, name));
    await addAll(repository, before);
    const read: Plant[] = [];
    let batches = 0;
    for await (const batch of repository.readAll()) {
      read.push(...assertBatch(batch));
      if (read.length > before.length * 2) throw new ContractViolation('readAll returned more plants than are stored');
      if (batches++ < 10)
        await repository.add([-1n, 1n, 3001n + 2n * BigInt(batches)].map((id) => plant(id, 'meanwhile')));
    }
    const ids = read.map(({ id }) => id);
    assertSameElements(ids, [...new Set(ids)].sort(ascending), 'ids that were read', (a, b) => a === b);
    const earlier = read.filter(({ id }) => id % 2n === 0n);
    assertSameElements(earlier, before, 'plants added before', (a, b) => a.equals(b));
  }),

  repositoryCase('does not modify batches after returning them to a reader', async (repository) => {
    const candidates = createPlants(2500);
    await addAll(repository, candidates);
    const batches: (readonly Plant[])[] = [];
    for await (const batch of repository.readAll()) batches.push(batch);
    assertSameElements(batches.flat(), candidates, 'plants of all batches', (a, b) => a.equals(b));
  }),

  repositoryCase('is not affected by a reader that modifies a batch', async (repository) => {
    const candidates = createPlants(2);
    await addAll(repository, candidates);
    for await (const batch of repository.readAll()) Reflect.set(batch, 0, batch[1]);
    await assertContent(repository, candidates);
  }),

  repositoryCase(`keeps working after ${MORE_CALLS_THAN_CONNECTIONS} readers stop early`, async (repository) => {
    const candidates = createPlants(1100);
    await addAll(repository, candidates);
    for (let round = 0; round < MORE_CALLS_THAN_CONNECTIONS; round++) for await (const _ of repository.readAll()) break;
    for (let round = 0; round < MORE_CALLS_THAN_CONNECTIONS; round++)
      await repository.readAll()[Symbol.asyncIterator]().return?.();
    await addAll(repository, [plant(-1n, 'later')]);
    await assertContent(repository, [plant(-1n, 'later'), ...candidates]);
  }),

  repositoryCase(`keeps working after ${MORE_CALLS_THAN_CONNECTIONS} calls of each kind`, async (repository) => {
    const stored = plant(1n, 'Monstera');
    await addAll(repository, [stored]);
    for (let round = 0; round < MORE_CALLS_THAN_CONNECTIONS; round++) {
      await assertHolders(repository, [stored]);
      await assertOutcomes(repository, [], []);
      await assertRejects('add', TypeError, () => addUntyped(repository, [undefined]));
      await assertContent(repository, [stored]);
      await repository.ready();
    }
  }),

  // Errors

  repositoryCase('an error reveals no value of a plant', async (repository) => {
    await addAll(repository, [CONFIDENTIAL]);
    const { id, name, tag } = CONFIDENTIAL;
    for (const batch of [[{ id, name, tag }], [CONFIDENTIAL, { id, name, tag }], CONFIDENTIAL])
      assertConfidential(await assertRejects('add', TypeError, () => addUntyped(repository, batch)));
    await repository.close();
    assertConfidential(await assertRejects('add', StorageUnavailable, () => repository.add([CONFIDENTIAL])));
    assertConfidential(await assertRejects('readAll', StorageUnavailable, () => readToEnd(repository.readAll())));
  }),

  repositoryCase('leaves no rejection unhandled', async (repository) => {
    await addAll(repository, createPlants(2500));
    await assertRejects('add', TypeError, () => addUntyped(repository, [undefined]));
    const reader = repository.readAll()[Symbol.asyncIterator]();
    await reader.next();
    const closing = repository.close();
    await isAvailable(() => repository.add([plant(-1n, 'late')]));
    await reader.return?.();
    await closing;
    await isAvailable(() => repository.add([plant(-2n, 'late')]));
    await isAvailable(() => readToEnd(repository.readAll()));
    // Gives background work time to reject.
    await pause(50);
  }),

  // Closing

  repositoryCase('is ready after opening, and checking this stores no plant', async (repository) => {
    await repository.ready();
    await repository.ready();
    await assertContent(repository, []);
  }),

  repositoryCase('add throws StorageUnavailable after close', async (repository) => {
    await repository.close();
    await assertRejects('add', StorageUnavailable, () => repository.add([plant(1n, 'late')]));
    await assertRejects('add of an empty batch', StorageUnavailable, () => repository.add([]));
  }),

  repositoryCase('readAll throws StorageUnavailable after close, while iterating', async (repository) => {
    await addAll(repository, [plant(1n, 'Monstera')]);
    await repository.close();
    await assertRejects('readAll', StorageUnavailable, () => readToEnd(repository.readAll()));
  }),

  repositoryCase('ready throws StorageUnavailable after close', async (repository) => {
    await repository.close();
    await assertRejects('ready', StorageUnavailable, () => repository.ready());
  }),

  repositoryCase('close waits for pending adds', async (repository) => {
    const holder = plant(1n, 'Monstera');
    await addAll(repository, [holder]);
    let isClosed = false;
    const adding = createPlants(40, 2n).map(async (candidate) => {
      const outcomes = await repository.add([plant(1n, 'Ficus'), candidate]);
      if (isClosed) throw new ContractViolation('close resolved before a pending add');
      assertEqual(outcomes.map(toTuple), [['taken', holder], ['added']], 'outcomes of a pending add');
    });
    const closing = repository.close().then(async () => {
      // Tolerates adds that resolve in the same turn as close.
      for (let turn = 0; turn < 1000; turn++) await undefined;
      isClosed = true;
    });
    await Promise.all([...adding, closing]);
  }),

  repositoryCase(
    'a reader that continues after close reads every plant or throws StorageUnavailable',
    async (repository) => {
      const candidates = createPlants(2500);
      await addAll(repository, candidates);
      await assertCompleteOrUnavailable(repository, candidates, async (readRest) => {
        const closing = repository.close();
        await readRest().finally(() => closing);
      });
    },
  ),

  repositoryCase('close is idempotent', async (repository) => {
    await Promise.all([repository.close(), repository.close()]);
    await repository.close();
  }),

  contractCase('close leaves no timer running', (harness) =>
    assertTimersEnd(() =>
      useRepository(harness, 'open', async (repository) => {
        await addAll(repository, [plant(1n, 'Monstera')]);
        await assertContent(repository, [plant(1n, 'Monstera')]);
        for await (const _ of repository.readAll()) break;
        await repository.ready();
      }),
    ),
  ),
];

function repositoryCase(
  name: string,
  check: (repository: PlantRepository) => Promise<void>,
  timeoutMs?: number,
): ContractCase<PlantRepositoryHarness> {
  return contractCase(name, (harness) => useRepository(harness, 'open', check), timeoutMs);
}

/** Calls `add` without type checks, as JavaScript code can. */
async function addUntyped(repository: PlantRepository, batch: unknown): Promise<unknown> {
  return Reflect.apply(repository.add, repository, [batch]);
}

async function readToEnd(batches: AsyncIterable<readonly Plant[]>): Promise<void> {
  for await (const _ of batches);
}
