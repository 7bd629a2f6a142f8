/** A correct repository, and faults that a case must detect. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AddOutcome,
  type NewPlant,
  type Plant,
  type PlantId,
  PlantRejected,
  StorageUnavailable,
} from '../../core/index.js';
import { toPlant } from '../support/plants.js';

/** Storage that survives its repositories and can become unavailable. It rejects {@link REJECTED_PLANT}. */
export class Disk {
  readonly plants = new Map<PlantId, Plant>();
  isUnavailable = false;
  /** Number of repositories that were opened. */
  opened = 0;
  /** Whether a faulty repository has closed the disk for all. */
  isClosed = false;
  /** Ids that a faulty repository has locked, with a function of that repository. */
  readonly locked = new Map<PlantId, unknown>();
}

export const REJECTED_PLANT: Plant = toPlant({ id: 77_001_001n, name: 'forbidden-name', tag: 'forbidden-tag' });
const ADDED: AddOutcome = { kind: 'added' };
const rejected = (message: string): AddOutcome => ({ kind: 'rejected', error: new PlantRejected(message) });
const isRejected = ({ name }: Plant) => name === REJECTED_PLANT.name;

/** Plants per batch of a reader. */
const PAGE = 1000;

const sort = (plants: Iterable<Plant>) => [...plants].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));

function* toPages(plants: readonly Plant[], size = PAGE): Generator<readonly Plant[]> {
  for (let start = 0; start < plants.length; start += size) yield plants.slice(start, start + size);
}

/** Opens a correct repository, of which each part can be replaced. */
function openDisk(disk: Disk) {
  let isClosed = false;
  disk.opened++;
  const parts = {
    disk,
    isClosed: () => isClosed,
    check: () => {
      if (isClosed || disk.isUnavailable) throw new StorageUnavailable('the disk is unavailable');
    },
    addOne: (plant: Plant): AddOutcome => {
      if (isRejected(plant)) return rejected('the disk rejects the plant');
      const holder = disk.plants.get(plant.id);
      if (holder !== undefined) return { kind: 'taken', holder };
      disk.plants.set(plant.id, plant);
      return ADDED;
    },
    sorted: () => sort(disk.plants.values()),
    add: async (plants: readonly Plant[]): Promise<readonly AddOutcome[]> => {
      parts.check();
      return plants.map((plant) => parts.addOne(plant));
    },
    async *readAll(): AsyncGenerator<readonly Plant[]> {
      parts.check();
      for (const page of toPages(parts.sorted())) {
        parts.check();
        yield page;
      }
    },
    ready: async () => parts.check(),
    close: async () => {
      isClosed = true;
    },
  };
  return parts;
}

type Parts = ReturnType<typeof openDisk>;

/** Replaces some parts of a correct repository. */
export type Fault = (correct: Parts) => Partial<Parts>;

/** Faults by name, by the only case that detects them. */
export type Faults<F> = Readonly<Record<string, Readonly<Record<string, F>>>>;

export function openFaulty(disk: Disk, fault: Fault): Parts {
  const parts = openDisk(disk);
  return Object.assign(parts, fault({ ...parts }));
}

/** Timers that faulty repositories leave running. */
const timers: NodeJS.Timeout[] = [];
const startTimer = () => timers.push(setInterval(() => {}, 60_000));

export function stopTimers(): void {
  for (const timer of timers.splice(0)) clearInterval(timer);
}

/** Stores changed plants. */
const storing =
  (change: (plant: Plant) => Partial<NewPlant>): Fault =>
  ({ addOne }) => ({
    addOne: (plant) => addOne(toPlant({ ...plant, ...change(plant) })),
  });

/** Stores changed names. */
const storingNames = (change: (name: string) => string): Fault => storing(({ name }) => ({ name: change(name) }));

/** Replaces `add`. */
const adding =
  (add: (plants: readonly Plant[], correct: Parts) => Promise<readonly AddOutcome[]>): Fault =>
  (correct) => ({ add: async (plants) => add(plants, correct) });

/** Returns changed outcomes. */
const returning = (
  change: (outcome: AddOutcome, plants: readonly Plant[], index: number, stored: ReadonlySet<PlantId>) => AddOutcome,
): Fault =>
  adding(async (plants, { add, disk }) => {
    const stored = new Set(disk.plants.keys());
    return (await add(plants)).map((outcome, index) => change(outcome, plants, index, stored));
  });

const toText = ({ name, tag }: Plant) => `${name} ${tag}`.toLowerCase();

/** Returns a plant as the holder of its id if only letter case differs, for ids that were stored before or for others. */
const ignoringCase = (whenStored: boolean): Fault =>
  returning((outcome, plants, index, stored) => {
    const given = plants[index];
    const isSimilar = outcome.kind === 'taken' && given && toText(outcome.holder) === toText(given);
    return isSimilar && stored.has(given.id) === whenStored ? { kind: 'taken', holder: given } : outcome;
  });

/** Makes `add` throw for some batches. */
const throwing = (isAffected: (plants: readonly Plant[]) => boolean): Fault =>
  adding(async (plants, { add }) => {
    if (isAffected(plants)) throw new StorageUnavailable('the disk failed');
    return add(plants);
  });

/** Replaces the batches of a reader. */
const reading =
  (toBatches: (sorted: readonly Plant[], parts: Parts) => Iterable<readonly Plant[]>): Fault =>
  (parts) => ({
    async *readAll() {
      parts.check();
      yield* toBatches(parts.sorted(), parts);
    },
  });

/** After a reader stops, looks for its next page without handling errors. */
const readingAhead =
  (isAffected: (correct: Parts) => boolean): Fault =>
  (correct) => ({
    async *readAll() {
      let isPaused = false;
      try {
        for await (const batch of correct.readAll()) {
          isPaused = true;
          yield batch;
          isPaused = false;
        }
      } finally {
        if (isPaused && isAffected(correct)) void nextTurn().then(correct.check);
      }
    },
  });

/** Pages by offset. */
async function* readByOffset(sorted: () => readonly Plant[]): AsyncGenerator<readonly Plant[]> {
  for (let offset = 0; offset < sorted().length; offset += PAGE) yield sorted().slice(offset, offset + PAGE);
}

/** Fails for a batch that overlaps one of a concurrent call, by default of any repository, as after a deadlock. */
const deadlocking =
  (ofAnother = false): Fault =>
  ({ add, close, disk: { locked } }) => ({
    add: async (plants) => {
      if (plants.length <= 2) return add(plants);
      const own = new Set(plants.map((plant) => plant.id));
      for (const id of own)
        if (ofAnother ? (locked.get(id) ?? add) !== add : locked.has(id)) throw new StorageUnavailable('deadlock');
      for (const id of own) locked.set(id, add);
      await nextTurn();
      for (const id of own) locked.delete(id);
      return add(plants);
    },
    close: closingLater(close),
  });

/** Waits for calls that began before. */
const closingLater = (close: () => Promise<void>) => async () => {
  await nextTurn();
  await close();
};

/** Keeps new plants in memory. */
function inMemory(disk: Disk): Pick<Parts, 'addOne' | 'sorted'> {
  const memory = new Disk();
  for (const plant of disk.plants.values()) memory.plants.set(plant.id, plant);
  const { addOne, sorted } = openDisk(memory);
  return { addOne, sorted };
}

/** Remembers plants that an outage prevented from being written. */
const afterOutage =
  (fault: (correct: Parts, failed: ReadonlyMap<PlantId, Plant>) => Partial<Parts>): Fault =>
  (correct) => {
    const failed = new Map<PlantId, Plant>();
    const changed = fault(correct, failed);
    return {
      ...changed,
      add: (plants) => {
        if (correct.disk.isUnavailable) for (const plant of plants) failed.set(plant.id, plant);
        return (changed.add ?? correct.add)(plants);
      },
    };
  };

const faults: Faults<Fault> = {
  'is empty and ready after opening, and checking this stores no plant': {
    'readAll returns an empty batch for empty storage': reading((plants) => (plants.length > 0 ? [plants] : [[]])),
    'ready stores a plant if there is none': ({ disk, addOne, ready }) => ({
      ready: async () => {
        await ready();
        if (disk.plants.size === 0) addOne(toPlant({ id: 0n, name: 'probe' }));
      },
    }),
    'add throws for an empty batch': throwing((plants) => plants.length === 0),
  },
  'stores ids exactly, at both ends of int64 and around 2^53': {
    'stores ids of 32 bits as signed integers': storing(({ id }) =>
      id >> 32n === 0n ? { id: BigInt.asIntN(32, id) } : {},
    ),
    'rounds ids of 62 bits to doubles': storing(({ id }) => (id >> 62n === 0n ? { id: BigInt(Number(id)) } : {})),
  },
  'stores strings code point for code point': {
    'replaces $& in names, as String.replace does': storingNames((name) => 'x'.replace('x', name)),
    'stores names such as __proto__ as empty strings': storingNames((name) => (name in {} ? '' : name)),
  },
  'stores strings of a megabyte, many of them in one batch': {
    'truncates names after 500,000 characters': storingNames((name) => name.slice(0, 500_000)),
    'throws for a batch of more than 16 MiB': throwing(
      (plants) => plants.reduce((sum, { name }) => sum + 2 * name.length, 0) > 2 ** 24,
    ),
  },
  'never changes a stored plant, and returns it as holder for identical and similar ones': {
    'ignores letter case when it compares a plant with a stored one': ignoringCase(true),
    'adds the tag that a stored plant lacks': adding((plants, { add, disk }) => {
      for (const plant of plants) {
        const holder = disk.plants.get(plant.id);
        if (holder && holder.tag === undefined && holder.name === plant.name) disk.plants.set(plant.id, plant);
      }
      return add(plants);
    }),
  },
  'adds the first of identical or similar plants with the same id in a batch': {
    'ignores letter case when it compares the plants of a batch': ignoringCase(false),
    'returns added for the second of two identical plants in a batch': returning((outcome, plants, index, stored) =>
      outcome.kind === 'taken' && outcome.holder === plants[index] && !stored.has(outcome.holder.id) ? ADDED : outcome,
    ),
  },
  'returns an outcome per plant in their order, and does not modify it later': {
    'later calls modify the outcomes': ({ add }) => {
      const last: AddOutcome[] = [];
      let calls = 0;
      return {
        add: async (plants) => {
          // Each of several concurrent calls has its own array.
          const isAlone = calls++ === 0;
          const outcomes = await add(plants).finally(() => calls--);
          if (isAlone) last.splice(0, last.length, ...outcomes);
          return isAlone ? last : outcomes;
        },
      };
    },
  },
  'does not modify the batch': {
    'sorts a batch of up to ten plants': adding(async (plants, { add }) => {
      const outcomes = await add(plants);
      if (plants.length <= 10) for (const [index, plant] of sort(plants).entries()) Reflect.set(plants, index, plant);
      return outcomes;
    }),
    'throws for a frozen batch': throwing(Object.isFrozen),
  },
  'adds the plants that the array held when add was called': {
    'reads the array later': ({ add, close }) => ({
      add: async (plants) => {
        await undefined;
        return add(plants);
      },
      close: closingLater(close),
    }),
  },
  'adds 70,000 plants in one batch, and reads them in batches of at most 10000': {
    'readAll hands over every plant as one batch': reading((plants) => (plants.length > 0 ? [plants] : [])),
    'throws for more than 65,535 parameters, three per plant': throwing((plants) => 3 * plants.length > 65_535),
    'readAll stops after 65,535 plants': reading((plants) => toPages(plants.slice(0, 65_535))),
  },
  'finds duplicate ids among thousands of plants in one batch': {
    'misses a duplicate more than 2,000 places later': returning((outcome, plants, index) => {
      if (outcome.kind !== 'taken') return outcome;
      return index - plants.indexOf(outcome.holder) > 2000 && plants.includes(outcome.holder) ? ADDED : outcome;
    }),
  },
  'adds each id exactly once for concurrent batches with overlapping ids': {
    'fails for overlapping batches, as after a deadlock': deadlocking(),
  },
  'adds exactly one of a hundred concurrent plants with the same id': {
    'fails for more than 64 concurrent calls': ({ add, close }) => {
      let calls = 0;
      return {
        add: async (plants) => {
          const batch = [...plants];
          if (++calls > 64) throw new StorageUnavailable('the pool is exhausted');
          await undefined;
          calls--;
          return add(batch);
        },
        close: closingLater(close),
      };
    },
  },
  'reads every plant once, ordered by id, for each of several readers': {
    'readAll orders plants only within pages of 1,000': ({ disk }) => ({
      sorted: () => [...toPages([...disk.plants.values()])].flatMap(sort),
    }),
    'concurrent readers share one cursor': ({ check, sorted }) => {
      let start = 0;
      return {
        async *readAll() {
          check();
          const plants = sorted();
          for (start = 0; start < plants.length; start += PAGE) yield plants.slice(start, start + PAGE);
        },
      };
    },
  },
  'reads every plant if the count is a multiple of a common page size, or one more or less': {
    'readAll loses a full last page of 2,048 plants': reading((plants) =>
      toPages(plants.length % 2048 === 0 ? plants.slice(0, -2048) : plants),
    ),
  },
  'reads every plant once, ordered by id, during concurrent adds': {
    'readAll repeats a plant if a smaller id is added meanwhile': ({ check, sorted }) => ({
      async *readAll() {
        check();
        yield* readByOffset(sorted);
      },
    }),
  },
  'leaves batches to the reader, who may keep and modify them': {
    'readAll reuses one array for every batch': reading(function* (plants) {
      const batch: Plant[] = [];
      for (const page of toPages(plants)) {
        batch.splice(0, batch.length, ...page);
        yield batch;
      }
    }),
    'each reader gets the same arrays': ({ check, sorted }) => {
      let batches: (readonly Plant[])[] = [];
      return {
        async *readAll() {
          check();
          if (batches.flat().length !== sorted().length) batches = [...toPages(sorted())];
          yield* batches;
        },
      };
    },
  },
  'keeps working after 130 calls of each kind': {
    'a reader that stops leaks one of 100 connections': ({ readAll }) => {
      let stopped = 0;
      return {
        async *readAll() {
          if (stopped++ === 100) throw new StorageUnavailable('no connection is free');
          yield* readAll();
          stopped--;
        },
      };
    },
  },
  'an error reveals no value of a plant': {
    'the error of add after close quotes the names': adding(async (plants, { add, isClosed }) => {
      if (isClosed()) throw new StorageUnavailable(`cannot add ${plants.map(({ name }) => name)}`);
      return add(plants);
    }),
  },
  'leaves no rejection unhandled': {
    'a reader that stops after close does not handle the error of its next page': readingAhead(({ isClosed }) =>
      isClosed(),
    ),
  },
  'close is idempotent, and each later call throws StorageUnavailable': {
    'ready resolves after close': ({ ready, isClosed }) => ({
      ready: async () => {
        if (!isClosed()) await ready();
      },
    }),
    'add throws synchronously after close': ({ add, isClosed }) => ({
      add: (plants) => {
        if (isClosed()) throw new StorageUnavailable('the repository is closed');
        return add(plants);
      },
    }),
    'readAll throws synchronously after close': ({ readAll, isClosed }) => ({
      readAll: () => {
        if (isClosed()) throw new StorageUnavailable('the repository is closed');
        return readAll();
      },
    }),
    'add of an empty batch resolves after close': adding(async (plants, { add }) =>
      plants.length === 0 ? [] : add(plants),
    ),
  },
  'close waits for add calls in flight': {
    'close resolves before an add call in flight': adding(async (plants, { add }) => {
      const outcomes = await add(plants);
      await nextTurn();
      return outcomes;
    }),
    'close aborts an add call in flight': adding(async (plants, { add }) => {
      const batch = [...plants];
      await nextTurn();
      return add(batch);
    }),
  },
  'a reader that continues after close reads every plant or throws StorageUnavailable': {
    'close ends a reader as if it were complete': reading(function* (plants, { isClosed }) {
      for (const page of toPages(plants)) if (!isClosed()) yield page;
    }),
  },
  'close leaves no timer running': {
    'close leaves a timer running': ({ ready }) => ({
      ready: async () => {
        await ready();
        startTimer();
      },
    }),
  },
};

const durableFaults: Faults<Fault> = {
  'returns every plant unchanged after reopening': {
    'strips trailing spaces from names when it opens': ({ disk: { plants } }) => {
      for (const plant of plants.values()) plants.set(plant.id, toPlant({ ...plant, name: plant.name.trimEnd() }));
      return {};
    },
  },
  'returns every added plant after a crash': {
    'writes batches only on close': ({ disk, add, addOne, close }) => {
      const memory = inMemory(disk);
      return {
        ...memory,
        add: (plants) => {
          if (plants[0] && plants.length === 1) addOne(plants[0]);
          return add(plants);
        },
        close: async () => {
          memory.sorted().map(addOne);
          await close();
        },
      };
    },
  },
  'returns the same holder of an id after reopening': {
    'logs whole batches, and reads the last plant with an id': (correct) => ({
      ...inMemory(correct.disk),
      ...adding((plants, { add, addOne, disk, check }) => {
        check();
        for (const plant of plants) plants.length > 1 ? disk.plants.set(plant.id, plant) : addOne(plant);
        return add(plants);
      })(correct),
    }),
  },
  'returns taken only after the holder would survive a crash': {
    'returns taken with a holder that is not on the disk yet': ({ add, check, close }) => {
      const pending = new Map<PlantId, Plant>();
      return {
        add: async (plants) => {
          check();
          const [plant, ...others] = plants;
          const holder = plant && others.length === 0 && pending.get(plant.id);
          if (holder) return [{ kind: 'taken', holder }];
          if (!plant || others.length > 0 || isRejected(plant)) return add(plants);
          pending.set(plant.id, plant);
          await nextTurn();
          return add([plant]);
        },
        close: closingLater(close),
      };
    },
  },
  'after reopening, returns every plant that was added during close': {
    'close drops the plants of add calls in flight': adding(async (plants, { add, check, isClosed, disk }) => {
      check();
      const batch = [...plants];
      await undefined;
      if (!isClosed()) return add(batch);
      return batch.map(({ id }) => {
        const holder = disk.plants.get(id);
        return holder ? { kind: 'taken', holder } : ADDED;
      });
    }),
  },
  'adds plants after each reopening': {
    'truncates the file at the first write': ({ add, disk: { plants: stored } }) => {
      let isFirst = true;
      return {
        add: (plants) => {
          if (isFirst && plants.every(({ id }) => !stored.has(id))) stored.clear();
          isFirst = false;
          return add(plants);
        },
      };
    },
  },
};

const outageFaults: Faults<Fault> = {
  'add throws StorageUnavailable during an outage, without values of the plant': {
    'the error of an outage contains the id': adding(async (plants, { add, disk }) => {
      if (disk.isUnavailable) throw new StorageUnavailable(`cannot write ${plants.map(({ id }) => id)}`);
      return add(plants);
    }),
  },
  'readAll reads every plant or throws StorageUnavailable during an outage': {
    'readAll reads nothing during an outage': ({ readAll, disk }) => ({
      async *readAll() {
        if (!disk.isUnavailable) yield* readAll();
      },
    }),
  },
  'a reader reads every plant or throws StorageUnavailable when an outage starts': {
    'an outage ends a reader as if it were complete': reading(function* (plants, { disk, check }) {
      check();
      for (const page of toPages(plants)) if (!disk.isUnavailable) yield page;
    }),
  },
  'a reader that stops during an outage leaves no rejection unhandled': {
    'a reader that stops does not handle the error of its next page': readingAhead(({ disk }) => disk.isUnavailable),
  },
  'ready resolves during an outage only if plants can be read and no add failed': {
    'ready does not check the storage': ({ ready, disk, isClosed }) => ({
      ready: async () => {
        if (!disk.isUnavailable || isClosed()) await ready();
      },
    }),
  },
  'recovers from an outage, and a retry finds out which plants were stored': {
    'ready throws the error of the driver after an outage': afterOutage(({ ready }, failed) => ({
      ready: async () => {
        await ready();
        if (failed.size > 0) throw new Error('ECONNRESET');
      },
    })),
    'returns taken for a plant whose write failed': afterOutage(({ addOne }, failed) => ({
      addOne: (plant) => {
        const holder = failed.get(plant.id);
        return holder ? { kind: 'taken', holder } : addOne(plant);
      },
    })),
  },
  'close succeeds during an outage, and leaves no timer running': {
    'close throws the error of the driver during an outage': ({ close, disk }) => ({
      close: async () => {
        if (disk.isUnavailable) throw new Error('ECONNREFUSED');
        await close();
      },
    }),
    'does not stop reconnecting': ({ ready, disk }) => ({
      ready: async () => {
        if (disk.isUnavailable) startTimer();
        await ready();
      },
    }),
  },
};

const durableOutageFaults: Faults<Fault> = {
  'after an outage, adding another plant with the same id returns added, or taken with a holder that survives': {
    'reserves the id of a plant whose write failed': afterOutage(({ addOne }, failed) => ({
      addOne: (plant) => {
        const holder = failed.get(plant.id);
        return holder && !holder.equals(plant) ? { kind: 'taken', holder } : addOne(plant);
      },
    })),
  },
  'after an outage, reads only plants that survive a restart': {
    'reads plants whose write failed': afterOutage(({ disk }, failed) => ({
      sorted: () => sort(new Map([...failed, ...disk.plants]).values()),
    })),
  },
  'plants added before an outage, and plants reported as stored after it, survive': {
    'continues in memory after a batch failed': afterOutage(({ disk, addOne }, failed) => {
      const lost = new Map<PlantId, Plant>();
      return {
        addOne: (plant) => {
          if (failed.size <= 1 || disk.isUnavailable || disk.plants.has(plant.id)) return addOne(plant);
          lost.set(plant.id, plant);
          return ADDED;
        },
        sorted: () => sort([...disk.plants.values(), ...lost.values()]),
      };
    }),
  },
  'add calls in flight when an outage starts report only plants that survive': {
    'acknowledges a single plant before it writes it': (correct) => {
      const pending = new Map<PlantId, Plant>();
      return {
        ...adding(async (plants, { add, addOne, check, disk }) => {
          check();
          const [plant, ...others] = plants;
          if (!plant || others.length > 0 || isRejected(plant) || disk.plants.has(plant.id)) return add(plants);
          pending.set(plant.id, plant);
          queueMicrotask(() => disk.isUnavailable || addOne(plant));
          return [ADDED];
        })(correct),
        sorted: () => sort(new Map([...pending, ...correct.disk.plants]).values()),
      };
    },
  },
};

const sharedFaults: Faults<Fault> = {
  'reads what another repository added, and returns it as holder': {
    'reads the file only when it opens': ({ disk, addOne }) => {
      const known = new Set(disk.plants.keys());
      return {
        addOne: (plant) => {
          known.add(plant.id);
          return addOne(plant);
        },
        sorted: () => sort(disk.plants.values()).filter(({ id }) => known.has(id)),
      };
    },
  },
  'adds each id once for concurrent calls of two repositories': {
    'locks a single plant inside one repository only': ({ add, disk, check }) => {
      let last: Promise<unknown> = Promise.resolve();
      const addAlone = async (plant: Plant): Promise<AddOutcome[]> => {
        const holder = disk.plants.get(plant.id);
        await nextTurn();
        if (holder) return [{ kind: 'taken', holder }];
        disk.plants.set(plant.id, plant);
        return [ADDED];
      };
      return {
        add: async (plants) => {
          check();
          const [plant, ...others] = plants;
          if (!plant || others.length > 0 || isRejected(plant)) return add(plants);
          const call = last.then(() => addAlone(plant));
          last = call;
          return call;
        },
      };
    },
  },
  'adds each id once for overlapping batches of two repositories in different order': {
    'fails for overlapping batches of two repositories, as after a deadlock': deadlocking(true),
  },
  'reads every earlier plant once while another repository adds plants': {
    'repeats a plant if another repository adds a smaller id meanwhile': ({ check, sorted, addOne }) => {
      const own = new Set<PlantId>();
      return {
        addOne: (plant) => {
          own.add(plant.id);
          return addOne(plant);
        },
        async *readAll() {
          check();
          const before = new Set(own);
          yield* readByOffset(() => sorted().filter(({ id }) => before.has(id) || !own.has(id)));
        },
      };
    },
  },
  'keeps working while others are opened, used and closed': {
    'closes the storage for all': ({ disk, check, close }) => ({
      check: () => {
        check();
        if (disk.isClosed) throw new StorageUnavailable('the pool has ended');
      },
      close: async () => {
        disk.isClosed = true;
        await close();
      },
    }),
    'keeps its connection after close': ({ disk }) => {
      if (disk.opened > 10) throw new StorageUnavailable('too many connections');
      return {};
    },
  },
};

const withRejected = (plants: readonly Plant[]) => plants.some(isRejected);

const rejectingFaults: Faults<Fault> = {
  'returns rejected with a PlantRejected that reveals no value of the plant': {
    'the error is not a PlantRejected': returning((outcome) =>
      outcome.kind === 'rejected' ? Object.assign(rejected(''), { error: new Error('constraint failed') }) : outcome,
    ),
    'the error quotes the plant': returning((outcome, plants, index) =>
      outcome.kind === 'rejected' ? rejected(`the name ${plants[index]?.name} is too long`) : outcome,
    ),
  },
  'adds or finds the other plants of a batch with a rejected plant': {
    'returns added for taken ids in a batch with a rejected plant': returning((outcome, plants) =>
      outcome.kind === 'taken' && withRejected(plants) ? ADDED : outcome,
    ),
  },
  'adds the rest of a large batch with a rejected plant': {
    'rejects every plant of a batch of more than 100 with a rejected one': adding(async (plants, { add }) =>
      plants.length > 100 && withRejected(plants) ? plants.map(() => rejected('constraint failed')) : add(plants),
    ),
  },
  'adds the plants of concurrent calls': {
    'rejects the calls that are concurrent with a rejected plant': ({ add }) => {
      let concurrent = 0;
      return {
        add: async (plants) => {
          if (withRejected(plants)) {
            concurrent++;
            queueMicrotask(() => concurrent--);
          }
          return concurrent > 1 ? plants.map(() => rejected('constraint failed')) : add(plants);
        },
      };
    },
  },
  'rejects a plant each time, and stays ready': {
    'is not ready after a rejected plant': ({ add, ready }) => {
      let hasRejected = false;
      return {
        add: (plants) => {
          hasRejected ||= withRejected(plants);
          return add(plants);
        },
        ready: async () => {
          await ready();
          if (hasRejected) throw new StorageUnavailable('the last write failed');
        },
      };
    },
  },
  'a rejected plant does not hold its id': {
    'a rejected plant holds its id': ({ addOne }) => {
      const reserved = new Map<PlantId, Plant>();
      return {
        addOne: (plant) => {
          const holder = isRejected(plant) ? undefined : reserved.get(plant.id);
          if (isRejected(plant)) reserved.set(plant.id, plant);
          return holder ? { kind: 'taken', holder } : addOne(plant);
        },
      };
    },
  },
};

/** Faults by the group of their cases. */
export const repositoryFaults: Readonly<Record<string, Faults<Fault>>> = {
  'every repository': faults,
  durability: durableFaults,
  'several repositories on one storage': sharedFaults,
  outages: outageFaults,
  'durability in outages': durableOutageFaults,
  'rejected plants': rejectingFaults,
};
