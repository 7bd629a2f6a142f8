import { MIN_PLANT_ID, type Plant, type PlantId } from '@plant-store/core';
import { assertEqual, type Cases } from '../contract.js';
import { assertSameOutcomes, readBatches, readPlants, sortById, type TestRepository } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { createPlants, plant } from '../sample-plants.js';

/** Concurrent calls of one repository. */
export const concurrentCases: Cases<TestStorage> = {
  'adds each id once for concurrent calls and overlapping batches': ({ repository }) =>
    assertRaces(repository, repository),
  'reads every earlier plant once, ordered by id, during concurrent adds': ({ repository }) =>
    assertReadsDuringAdds(repository, repository),
  'finds and reads every plant that was added before the call, whatever else is in flight': ({ repository }) =>
    assertSeesAdds(repository, repository),
};

/** Calls of several repositories, for example in several processes, on one storage. */
export const sharedCases: Cases<TestStorage> = {
  'reads and returns as stored what others added, which are opened, used and closed': async (storage) => {
    const { repository, openAnother } = storage;
    const what = 'plants read that another repository added (if none, openAnother() may open other storage)';
    for (let id = 0n; id < 20n; id += 2n) {
      const another = await openAnother();
      assertEqual(await repository.find(id), undefined, 'the plant found before another repository adds it');
      await another.addAll([plant(id, 'another')]);
      await repository.assertFound([plant(id, 'another')]);
      await repository.assertHolders([plant(id, 'another')]);
      await repository.addAll([plant(id + 1n, 'own')]);
      await another.assertHolders([plant(id + 1n, 'own')]);
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

/** Asserts that each id has one winner in concurrent calls of both repositories. */
async function assertRaces(one: TestRepository, other: TestRepository): Promise<void> {
  const batches = [
    ...createPlants(100).map(({ name }) => [plant(-1n, name)]),
    ...createPlants(50, 1000n).flatMap(({ id }) => [[plant(id, 'one', 'tag')], [plant(id, 'other')]]),
    ...createPlants(8).map(({ name }, call) => createPlants(200, BigInt(20 * call)).map(({ id }) => plant(id, name))),
  ].map((batch, call) => (call % 3 === 0 ? batch.toReversed() : batch));
  const results = await Promise.all(batches.map((batch, call) => (call % 2 === 0 ? one : other).add(batch)));
  const [plants, outcomes] = [batches.flat(), results.flat()];
  const added = plants.filter((_, index) => outcomes[index]?.kind === 'added');
  const winners = new Map(added.map((winner) => [winner.id, winner]));
  const expected = plants.map((each) => {
    const winner = winners.get(each.id) ?? each;
    return winner === each ? 'added' : winner;
  });
  assertSameOutcomes(outcomes, expected);
  for (const repository of [one, other]) {
    await repository.assertContent([...winners.values()]);
    await repository.assertFound([...winners.values()]);
  }
}

/** Asserts that `reader` reads every earlier plant once, ordered by id, while `writer` adds others. */
async function assertReadsDuringAdds(reader: TestRepository, writer: TestRepository): Promise<void> {
  const earlier = Array.from({ length: 2500 }, (_, index) => plant(BigInt(2 * index), 'earlier'));
  await reader.addAll(earlier);
  const read: Plant[] = [];
  const expected = [...earlier];
  let [later, last]: [bigint, PlantId] = [1n, MIN_PLANT_ID];
  const addMore = async (name: string) => {
    if (later > 40n) return [];
    const added = [-later, later, 4900n + later].map((id) => plant(id, name));
    later += 2n;
    await writer.addAll(added);
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

/** Asserts that a call of `reader` sees every plant that `writer` added, or returned as stored, before it started. */
async function assertSeesAdds(reader: TestRepository, writer: TestRepository): Promise<void> {
  const assertSeen = async (stored: Plant) => {
    await reader.assertFound([stored]);
    const what = `the plant read from ${stored.id} on, after add returned it`;
    assertEqual(await reader.read(stored.id, 1), [stored], what);
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
    await reader.assertFound([stored]);
  }
}
