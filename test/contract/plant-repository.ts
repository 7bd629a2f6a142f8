import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant } from '../../core/index.js';
import { TEXT_FIELDS } from './sample-plants.js';
import {
  assertEqual,
  assertRejects,
  assertSameElements,
  ContractViolation,
  contractCase,
  type HarnessCase,
  InvalidHarness,
  pause,
} from './contract.js';
import {
  addAll,
  addConcurrently,
  assertCompleteOrUnavailable,
  assertConfidential,
  assertContent,
  assertHolders,
  assertOutcomes,
  assertReadsDuringAdds,
  assertTimersEnd,
  isAvailable,
  type OpenPlantRepository,
  type OutcomeTuple,
  type PlantRepositoryHarness,
  readPlants,
  toTuple,
  useRepository,
} from './repository-checks.js';
import {
  CONFIDENTIAL,
  createPlants,
  IDS,
  plant,
  plantWith,
  READ_COUNTS,
  SIMILAR_PLANTS,
  TEXTS,
} from './sample-plants.js';

/** Maximum number of plants per batch of a reader, which must not collect them all. */
const MAX_READ_ROWS = 10_000;
/** More calls than any usual pool has connections. */
const MORE_CALLS_THAN_CONNECTIONS = 130;
/** Timeout of cases with many or large plants, in milliseconds. Some engines sync each plant. */
const LARGE_TIMEOUT_MS = 300_000;

/** Cases for every plant repository. */
export const repositoryCases: readonly HarnessCase<PlantRepositoryHarness>[] = [
  contractCase('is empty and ready after opening, and checking this stores no plant', async (harness) => {
    await useRepository(harness, 'open', async (repository) => {
      await repository.ready();
      await repository.ready();
      await assertOutcomes(repository, [], []);
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

  // Ids and strings

  repositoryCase('stores ids exactly, at both ends of int64 and around 2^53', async (repository) => {
    // The plants differ only in their ids.
    const candidates = IDS.map((id) => plant(id, 'Monstera', 'indoor'));
    await addAll(repository, candidates);
    await assertHolders(repository, candidates);
    await assertContent(repository, candidates);
  }),

  repositoryCase('stores strings code point for code point', async (repository) => {
    const texts = TEXTS.flatMap((text) => [
      Object.fromEntries(TEXT_FIELDS.map((field) => [field, text])),
      ...TEXT_FIELDS.map((field) => ({ [field]: text })),
    ]);
    const candidates = texts.map((fields, index) => plantWith(BigInt(index), { name: 'Monstera', ...fields }));
    await addAll(repository, candidates);
    await assertHolders(repository, candidates);
    await assertContent(repository, candidates);
  }),

  repositoryCase(
    'stores strings of a megabyte, many of them in one batch',
    async (repository) => {
      const [name, tag] = ['🌵'.repeat(2 ** 18), 'é'.repeat(2 ** 19)];
      const candidates = Array.from({ length: 18 }, (_, index) => plant(BigInt(index), `${index} ${name}`));
      const tagged = plant(-1n, 'Monstera', tag);
      await addAll(repository, [tagged, ...candidates]);
      await assertHolders(repository, [tagged]);
      await assertContent(repository, [tagged, ...candidates]);
    },
    LARGE_TIMEOUT_MS,
  ),

  // Outcomes

  repositoryCase(
    'never changes a stored plant, and returns it as holder for identical and similar ones',
    async (repository) => {
      const groups = SIMILAR_PLANTS.map((texts, group) =>
        texts.map((fields, index) => plantWith(BigInt(100 * group + index), fields)),
      );
      const holders = groups.flat();
      await addAll(repository, holders);
      // Each plant, under the id of each other plant of its group.
      const attempts = groups.flatMap((texts) =>
        texts.flatMap(({ id }) => texts.map((fields) => plantWith(id, fields))),
      );
      const holderOf = new Map(holders.map((holder) => [holder.id, holder]));
      const expected = attempts.map(({ id }): OutcomeTuple => ['taken', holderOf.get(id) ?? plant(id, 'no holder')]);
      await assertOutcomes(repository, attempts, expected);
      await assertContent(repository, holders);
    },
  ),

  repositoryCase('adds the first of identical or similar plants with the same id in a batch', async (repository) => {
    const groups = SIMILAR_PLANTS.map((texts, group) => texts.map((fields) => plantWith(BigInt(group), fields)));
    const firsts = groups.flatMap((group) => group.slice(0, 1));
    const expected = firsts.flatMap((first, index) => {
      const others = [...(groups[index] ?? []), first].slice(1);
      return [['added'] as const, ...others.map((): OutcomeTuple => ['taken', first])];
    });
    // Each group ends with its first plant again.
    await assertOutcomes(
      repository,
      groups.flatMap((group) => [...group, ...group.slice(0, 1)]),
      expected,
    );
    await assertContent(repository, firsts);
  }),

  repositoryCase('returns an outcome per plant in their order, and does not modify it later', async (repository) => {
    const [one, three] = [plant(1n, 'one'), plant(3n, 'three', 'indoor')];
    const [two, four] = [plant(2n, 'two'), plant(4n, 'four')];
    await addAll(repository, [one, three]);
    const outcomes = await repository.add([four, ...[3n, 4n, 1n, 3n].map((id) => plant(id, 'other')), two]);
    await assertOutcomes(repository, [plant(4n, 'other'), plant(5n, 'five')], [['taken', four], ['added']]);
    assertEqual(
      outcomes.map(toTuple),
      [['added'], ['taken', three], ['taken', four], ['taken', one], ['taken', three], ['added']],
      'outcomes of the first call',
    );
    await assertContent(repository, [one, two, three, four, plant(5n, 'five')]);
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

  repositoryCase('adds the plants that the array held when add was called', async (repository) => {
    const batch = [plant(1n, 'one')];
    const adding = repository.add(batch);
    batch[0] = plant(2n, 'two');
    batch.push(plant(3n, 'three'));
    const outcomes = await adding;
    if (outcomes.length !== 1) throw new ContractViolation(`expected 1 outcome, got ${outcomes.length}`);
    await assertContent(repository, [plant(1n, 'one')]);
  }),

  repositoryCase(
    `adds 70,000 plants in one batch, and reads them in batches of at most ${MAX_READ_ROWS}`,
    async (repository) => {
      // Exceeds the 65,535 parameters of one SQL statement, and the usual limits on the result of a query.
      const candidates = createPlants(70_000);
      await addAll(repository, candidates);
      await assertContent(repository, candidates);
      await assertHolders(repository, candidates);
      for await (const { length } of repository.readAll())
        if (length > MAX_READ_ROWS) throw new ContractViolation(`readAll returned a batch of ${length} plants`);
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

  repositoryCase('reads every plant once, ordered by id, for each of several readers', async (repository) => {
    const shuffled = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500));
    const ids = shuffled.flatMap((id) => [MIN_PLANT_ID + id, (id - 750n) * 3n, MAX_PLANT_ID - id]);
    const candidates = ids.map((id) => plant(id, `plant ${id}`));
    for (let start = 0; start < candidates.length; start += 1000)
      await addAll(repository, candidates.slice(start, start + 1000));
    await Promise.all([1, 2, 3].map(() => assertContent(repository, candidates)));
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

  repositoryCase('reads every plant once, ordered by id, during concurrent adds', (repository) =>
    assertReadsDuringAdds(repository, repository),
  ),

  repositoryCase('leaves batches to the reader, who may keep and modify them', async (repository) => {
    const candidates = createPlants(2500);
    await addAll(repository, candidates);
    const batches: (readonly Plant[])[] = [];
    for await (const batch of repository.readAll()) batches.push(batch);
    assertSameElements(batches.flat(), candidates, 'plants of all batches', (a, b) => a.equals(b));
    for (const batch of batches) Reflect.set(batch, 0, batch[1]);
    await assertContent(repository, candidates);
  }),

  repositoryCase(`keeps working after ${MORE_CALLS_THAN_CONNECTIONS} calls of each kind`, async (repository) => {
    const stored = createPlants(1100);
    await addAll(repository, stored);
    for (let round = 0; round < MORE_CALLS_THAN_CONNECTIONS; round++) {
      await assertHolders(repository, stored.slice(0, 1));
      await repository.ready();
      for await (const _ of repository.readAll()) break;
      await repository.readAll()[Symbol.asyncIterator]().return?.();
      await readPlants(repository);
    }
    await addAll(repository, [plant(1100n, 'later')]);
    await assertContent(repository, [...stored, plant(1100n, 'later')]);
  }),

  // Errors

  repositoryCase('an error reveals no value of a plant', async (repository) => {
    await addAll(repository, [CONFIDENTIAL]);
    await repository.close();
    const calls = [async () => repository.add([CONFIDENTIAL]), async () => readPlants(repository)];
    for (const call of calls) assertConfidential(await call().catch((error: unknown) => error));
  }),

  repositoryCase('leaves no rejection unhandled', async (repository) => {
    await addAll(repository, createPlants(2500));
    const reader = repository.readAll()[Symbol.asyncIterator]();
    await reader.next();
    const closing = repository.close();
    await isAvailable(() => repository.add([plant(-1n, 'late')]));
    await reader.return?.();
    await closing;
    await isAvailable(() => repository.add([plant(-2n, 'late')]));
    await isAvailable(() => readPlants(repository));
    // Gives background work time to reject.
    await pause(50);
  }),

  // Closing

  repositoryCase('close is idempotent, and each later call throws StorageUnavailable', async (repository) => {
    await addAll(repository, [plant(1n, 'Monstera')]);
    await Promise.all([repository.close(), repository.close()]);
    await assertRejects('add', 'STORAGE_UNAVAILABLE', () => repository.add([plant(2n, 'late')]));
    await assertRejects('add of an empty batch', 'STORAGE_UNAVAILABLE', () => repository.add([]));
    // Not in an async function, so that an error that readAll throws itself differs from a rejection.
    await assertRejects('readAll', 'STORAGE_UNAVAILABLE', () => repository.readAll()[Symbol.asyncIterator]().next());
    await assertRejects('ready', 'STORAGE_UNAVAILABLE', () => repository.ready());
    await repository.close();
  }),

  repositoryCase('close waits for add calls in flight', async (repository) => {
    const holder = plant(1n, 'Monstera');
    await addAll(repository, [holder]);
    let isClosed = false;
    const adding = createPlants(40, 2n).map(async (candidate) => {
      const outcomes = await repository.add([plant(1n, 'Ficus'), candidate]);
      if (isClosed) throw new ContractViolation('close resolved before an add call in flight');
      assertEqual(outcomes.map(toTuple), [['taken', holder], ['added']], 'outcomes of an add call in flight');
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
  check: (repository: OpenPlantRepository) => Promise<void>,
  timeoutMs?: number,
): HarnessCase<PlantRepositoryHarness> {
  return contractCase(name, (harness) => useRepository(harness, 'open', check), timeoutMs);
}
