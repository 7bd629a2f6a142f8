import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AddOutcome, Plant, PlantId } from '@plant-store/core';
import { type TestPlant, toPlant } from '../support/plants.js';
import type { Disk, Fault } from './repositories.js';

/** Changes each plant before it is stored. */
const storing =
  (change: (plant: Plant) => Partial<TestPlant>): Fault =>
  ({ addOne }) => ({ addOne: (plant) => addOne(toPlant({ ...plant, ...change(plant) })) });

/** Changes the outcome of each plant. */
const reporting =
  (change: (outcome: AddOutcome, plant: Plant, disk: Disk) => AddOutcome): Fault =>
  ({ addOne }, disk) => ({ addOne: (plant) => change(addOne(plant), plant, disk) });

/** Changes the plants that `read` returns. */
const reading =
  (change: (plants: readonly Plant[], from: PlantId, limit: number) => readonly Plant[]): Fault =>
  ({ read }) => ({ read: async (from, limit) => change(await read(from, limit), from, limit) });

/** Remembers the result of each call. */
function remember<Parameters extends unknown[], Result>(call: (...parameters: Parameters) => Result) {
  const results = new Map<string, Result>();
  return (...parameters: Parameters): Result => {
    const result = results.get(parameters.join()) ?? call(...parameters);
    results.set(parameters.join(), result);
    return result;
  };
}

const ADDED: AddOutcome = { kind: 'added' };

/** Rounds an id as a storage does that has no integers of 64 bits. */
const round = (id: bigint) => BigInt.asIntN(64, BigInt(Number(id)));

/** Finds out which ids are free, and adds plants under them in another turn of the event loop. */
const addInTwoTurns: Fault = ({ addOne }, disk) => ({
  add: async (plants) => {
    const free = plants.filter(({ id }) => !disk.plants.has(id));
    await nextTurn();
    for (const { id } of free) disk.plants.delete(id);
    return plants.map(addOne);
  },
});

/** Faults of a repository, by the case that detects each. */
export const repositoryFaults: Readonly<Record<string, Fault>> = {
  'is empty and ready after opening, and ready stores no plant': ({ addOne }) => ({
    ready: async () => void addOne(toPlant({ id: 7n, name: 'probe' })),
  }),
  'stores ids exactly, at both ends of int64 and around 2^53': storing(({ id }) => ({ id: round(id) })),
  'stores strings code point for code point, and an absent tag as absent': storing(({ tag }) => ({
    tag: tag?.trimEnd(),
  })),
  'never changes a stored plant, and returns it as stored for similar ones': reporting((outcome, plant) => {
    const isSimilar = outcome.kind === 'conflict' && outcome.stored.name.toLowerCase() === plant.name.toLowerCase();
    return isSimilar ? { kind: 'conflict', stored: plant } : outcome;
  }),
  'adds the first of several plants with the same id in a batch': ({ add }) => ({
    add: async (plants) => (await add(plants.toReversed())).toReversed(),
  }),
  'returns an outcome per plant in their order, and does not modify it later': ({ add }) => ({
    add: (plants) => add(plants.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  }),
  'adds the plants that the array held when add was called, and does not modify it': ({ add }) => ({
    add: (plants) => nextTurn().then(() => add(plants)),
  }),
  'stores strings of a megabyte, many of them in one batch': reading((plants) =>
    plants.filter(({ name }) => name.length < 2 ** 19),
  ),
  'stores a string of more than 16 MB whole, or not at all': storing(({ name }) => ({ name: name.slice(0, 2 ** 24) })),
  'stores 70,000 plants in one batch': ({ add }) => ({
    add: async (plants) => [...(await add(plants.slice(0, 2 ** 16))), ...plants.slice(2 ** 16).map(() => ADDED)],
  }),

  'finds a plant once it was added, and nothing under a free id': ({ find }) => ({ find: (id) => find(round(id)) }),
  'reads the plants from an id on, whether or not a plant has it': ({ read }) => ({
    read: (from, limit) => read(from + 1n, limit),
  }),
  'reads at most a given number of plants at once': ({ read }) => ({ read: (from) => read(from, 1000) }),
  'reads every plant once, ordered by id, for each of several readers': reading((plants, from, limit) =>
    plants.filter(({ id }) => id < from + BigInt(limit)),
  ),
  'reads every plant if the count is a common page size, or one more': reading((plants, _, limit) => [
    ...plants.slice(0, 1000),
    ...plants.slice(999, limit - 1),
  ]),
  'leaves batches to the reader, who may keep and modify them': ({ read }) => ({ read: remember(read) }),
  'keeps working after 130 calls of each kind': () => ({
    ready: async () => void Promise.reject(new Error('nothing handles this')),
  }),

  'adds each id once for concurrent calls and overlapping batches': addInTwoTurns,
  'reads every earlier plant once, ordered by id, during concurrent adds': ({ read }, disk) => ({
    // Skips as many plants as were added meanwhile, as a reader does that counts plants.
    read: async (from, limit) => {
      const count = disk.plants.size;
      await nextTurn();
      return (await read(from, limit)).slice(disk.plants.size - count);
    },
  }),
  'finds and reads every plant that was added before the call, whatever else is in flight': ({ find }) => ({
    find: remember(find),
  }),
  'reads and returns as stored what others added, which are opened, used and closed': ({ find }) => ({
    find: remember(find),
  }),
  'adds each id once for concurrent calls and overlapping batches of both': addInTwoTurns,
  'finds and reads every plant that another repository added before the call': ({ read }) => ({ read: remember(read) }),

  'close is idempotent, and each later call throws StorageUnavailable': ({ add }) => ({
    add: async (plants) => (plants.length === 0 ? [] : add(plants)),
  }),
  'close waits for calls in flight': ({ read }) => ({ read: (from, limit) => read(from, limit).finally(nextTurn) }),
  'find and read in flight during close return every plant or throw StorageUnavailable': ({ read }, disk) => ({
    read: async (from, limit) => {
      const plants = await read(from, limit);
      await nextTurn();
      return disk.isOpen ? plants : [];
    },
  }),
  'close leaves no timer running': ({ find }) => ({ find: (id) => find(id).finally(() => setTimeout(() => {}, 5000)) }),

  'returns rejected with an Error that reveals no value of the plant': reporting((outcome, { name }) =>
    outcome.kind === 'rejected' ? { kind: 'rejected', error: new Error(`the name ${name} is bad`) } : outcome,
  ),
  'adds or finds the other plants of a batch': ({ add }) => ({
    add: async (plants) => {
      const outcomes = await add(plants);
      const rejected = outcomes.find(({ kind }) => kind === 'rejected');
      return rejected ? outcomes.map(() => rejected) : outcomes;
    },
  }),
  'adds another plant with the id of a rejected one in the same batch': ({ add }) => ({
    add: async (plants) => {
      const outcomes = await add(plants);
      return plants.map((plant) => outcomes[plants.findIndex(({ id }) => id === plant.id)] ?? ADDED);
    },
  }),
  'rejects a plant each time, stays ready, and does not keep its id': reporting((outcome, plant, disk) => {
    if (outcome.kind === 'rejected') disk.plants.set(plant.id, plant);
    return outcome;
  }),

  'returns ids, strings and the first plant with an id unchanged after reopening': ({ find }, disk) => {
    const isNew = disk.plants.size === 0;
    return { find: async (id) => (isNew ? find(id) : undefined) };
  },
  'returns every added plant after a crash and after closing, and adds more': (_, disk) => {
    if (disk.isOpen) disk.plants.clear();
    return {};
  },
  'reports a conflict only after the stored plant would survive a crash': ({ add }) => {
    const pending = new Map<PlantId, Plant>();
    return {
      add: async (plants) => {
        const stored = plants.flatMap(({ id }) => pending.get(id) ?? []);
        if (stored.length > 0) return stored.map((plant) => ({ kind: 'conflict', stored: plant }));
        for (const plant of plants) pending.set(plant.id, plant);
        await nextTurn();
        pending.clear();
        return add(plants);
      },
    };
  },
  'after reopening, returns every plant that was added during close': ({ close }, disk) => ({
    close: async () => {
      disk.plants.delete(7n);
      await close();
    },
  }),

  'ready resolves only if plants can be read and no add failed': () => ({ ready: async () => {} }),
  'find and read return every plant or throw StorageUnavailable': ({ find }, disk) => ({
    find: async (id) => (disk.isUnavailable ? undefined : find(id)),
  }),
  'the repository recovers, and a retry finds out which plants were stored': ({ add }, disk) => ({
    add: (plants) => {
      if (disk.isUnavailable) disk.plants.delete(0n);
      return add(plants);
    },
  }),
  'plants that were added, read or returned as stored survive a restart': ({ add, find }, disk) => {
    const failed = new Map<PlantId, Plant>();
    return {
      add: (plants) => {
        if (disk.isUnavailable) for (const plant of plants) failed.set(plant.id, plant);
        return add(plants);
      },
      find: async (id) => (await find(id)) ?? failed.get(id),
    };
  },
};
