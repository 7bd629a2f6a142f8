/** Broken repositories, derived from mistakes that databases, drivers and libraries invite: each has one fault. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import {
  type AddOutcome,
  type NewPlant,
  type Plant,
  PlantRejected,
  type PlantRepository,
  StorageUnavailable,
} from '../../core/index.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';
import { type Disk, DiskRepository } from './broken-by-cases.js';

/** A fault and the case that must catch it. */
export interface Fault {
  readonly fault: string;
  readonly caughtBy: string;
}

/** Timers that broken adapters leave running. */
const timers: NodeJS.Timeout[] = [];

/** Stops the timers that broken adapters left running. */
export function stopTimers(): void {
  for (const timer of timers.splice(0)) clearInterval(timer);
}

type Add = (
  plants: readonly Plant[],
  add: (plants: readonly Plant[]) => Promise<AddOutcome[]>,
) => Promise<AddOutcome[]>;

/** Creates a memory repository with a different `add`. */
function adding(add: Add): PlantRepository {
  const repository = new MemoryPlantRepository();
  const correct = repository.add.bind(repository);
  repository.add = (plants) => add(plants, correct);
  return repository;
}

/** Creates a memory repository that stores modified names and tags. */
function storing(change: (text: string) => string): PlantRepository {
  return rewriting(({ name, tag }) => ({ name: change(name), tag: tag === undefined ? undefined : change(tag) }));
}

function rewriting(change: (plant: Plant) => Partial<NewPlant>): PlantRepository {
  return adding((plants, add) =>
    add(plants.map((plant) => toPlant({ id: plant.id, name: plant.name, tag: plant.tag, ...change(plant) }))),
  );
}

/** Creates a memory repository that returns the given plant as the holder if both have the same `key`. */
function comparing(key: (plant: Plant) => string): PlantRepository {
  return adding(async (plants, add) =>
    (await add(plants)).map((outcome, index) => {
      const given = plants[index];
      const isSame = outcome.kind === 'taken' && given && key(outcome.holder) === key(given);
      return isSame ? { kind: 'taken', holder: given } : outcome;
    }),
  );
}

/** Creates a memory repository that returns modified batches to readers. */
function reading(modify: (plants: Plant[]) => Iterable<readonly Plant[]>): PlantRepository {
  const repository = new MemoryPlantRepository();
  const correct = repository.readAll.bind(repository);
  repository.readAll = async function* () {
    yield* modify(await readPlants(correct()));
  };
  return repository;
}

/** Splits plants into pages, up to the first one that `isKept` rejects. `rest` is the number of plants after it. */
function* toPages(plants: readonly Plant[], size: number, isKept: (page: readonly Plant[], rest: number) => boolean) {
  for (let start = 0; start < plants.length; start += size) {
    const page = plants.slice(start, start + size);
    if (!isKept(page, plants.length - start - page.length)) return;
    yield page;
  }
}

/** A memory repository with 100 connections, of which each call of one kind leaks one. */
class Leaking extends MemoryPlantRepository {
  #free = 100;
  readonly #leaks: 'early stops' | 'reads' | 'adds' | 'errors';

  constructor(leaks: 'early stops' | 'reads' | 'adds' | 'errors') {
    super();
    this.#leaks = leaks;
  }

  #take(): void {
    if (this.#free === 0) throw new StorageUnavailable('no connection is free');
    this.#free--;
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#take();
    try {
      const outcomes = await super.add(plants);
      if (this.#leaks !== 'adds' || outcomes.some(({ kind }) => kind === 'added')) this.#free++;
      return outcomes;
    } catch (error) {
      if (this.#leaks !== 'errors') this.#free++;
      throw error;
    }
  }

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.#take();
    let isDone = false;
    try {
      yield* super.readAll();
      isDone = true;
    } finally {
      if (this.#leaks !== (isDone ? 'reads' : 'early stops')) this.#free++;
    }
  }
}

class ReusesOutcomes extends MemoryPlantRepository {
  readonly #outcomes: AddOutcome[] = [];

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#outcomes.splice(0, this.#outcomes.length, ...(await super.add(plants)));
    return this.#outcomes;
  }
}

class ProbesWithPlant extends MemoryPlantRepository {
  override async ready(): Promise<void> {
    await super.ready();
    await super.add([toPlant({ id: 0n, name: 'probe' })]);
  }
}

class KeepsTimer extends MemoryPlantRepository {
  constructor() {
    super();
    timers.push(setInterval(() => {}, 60_000));
  }
}

/** Keeps the tail of its queue without a handler. */
class LeavesRejection extends MemoryPlantRepository {
  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const call = super.add(plants);
    void call.then(() => {});
    return call;
  }
}

class ClosesAfterFirst extends MemoryPlantRepository {
  readonly #pending: Promise<unknown>[] = [];

  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const call = this.#addAfter(this.#pending.at(-1), plants);
    this.#pending.push(call);
    return call.finally(() => this.#pending.shift());
  }

  async #addAfter(previous: Promise<unknown> | undefined, plants: readonly Plant[]): Promise<AddOutcome[]> {
    await Promise.allSettled([previous]);
    await nextTurn();
    return super.add(plants);
  }

  override async close(): Promise<void> {
    await Promise.allSettled([this.#pending[0]]);
    await super.close();
  }
}

class QuotesPlant extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    try {
      return await super.add(plants);
    } catch (error) {
      if (error instanceof TypeError) throw error;
      throw new StorageUnavailable(`cannot insert ${plants.map(({ name }) => name)}`, { cause: error });
    }
  }
}

class QuotesArgument extends MemoryPlantRepository {
  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return super.add(plants).catch((error) => {
      if (!(error instanceof TypeError)) throw error;
      const quoted = JSON.stringify(plants, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      throw new TypeError(`not an array of plants: ${quoted}`);
    });
  }
}

class UniqueNamesAndTags extends MemoryPlantRepository {
  readonly #byName = new Map<string, Plant>();

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    await this.ready();
    const outcomes: AddOutcome[] = [];
    for (const plant of plants) {
      const holder = this.#byName.get(`${plant.name} ${plant.tag}`);
      if (!holder) this.#byName.set(`${plant.name} ${plant.tag}`, plant);
      outcomes.push(holder ? { kind: 'taken', holder } : ((await super.add([plant]))[0] ?? { kind: 'added' }));
    }
    return outcomes;
  }
}

const decodePercent = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16) || 32));
const inCase = 'stores text code point for code point';
const inSimilar = 'returns the exact holder for a plant that is similar to it';
const inPageCase = 'reads every plant if the count is a multiple of a common page size, or one more or less';

export const brokenRepositories: readonly (Fault & { create(): PlantRepository })[] = [
  // Texts
  { fault: 'decodes + as a space', caughtBy: inCase, create: () => storing((text) => text.replaceAll('+', ' ')) },
  { fault: 'decodes percent escapes', caughtBy: inCase, create: () => storing(decodePercent) },
  { fault: 'truncates texts at &', caughtBy: inCase, create: () => storing((text) => text.replace(/(?<=.)&.*/s, '')) },
  { fault: 'truncates texts at a tab', caughtBy: inCase, create: () => storing((text) => text.replace(/\t.*/s, '')) },
  { fault: 'truncates texts at a comma', caughtBy: inCase, create: () => storing((text) => text.replace(/,.*/s, '')) },
  {
    fault: 'truncates texts at a unit separator',
    caughtBy: inCase,
    create: () => storing((text) => text.split('\u001f', 1).join('')),
  },
  {
    fault: 'drops control characters',
    caughtBy: inCase,
    create: () => storing((text) => text.replace(/\p{Cc}/gu, '')),
  },
  { fault: 'unescapes \\n', caughtBy: inCase, create: () => storing((text) => text.replaceAll('\\n', '\n')) },
  { fault: 'unescapes HTML', caughtBy: inCase, create: () => storing((text) => text.replaceAll('&amp;', '&')) },
  {
    fault: 'replaces $& as String.replace does',
    caughtBy: inCase,
    create: () => storing((text) => 'x'.replace('x', text)),
  },
  {
    fault: 'drops zero-width characters',
    caughtBy: inCase,
    create: () => storing((text) => text.replace(/\p{Cf}/gu, '')),
  },
  {
    fault: 'stores names of object members, such as __proto__, as empty strings',
    caughtBy: inCase,
    create: () => storing((text) => (text in {} ? '' : text)),
  },
  {
    fault: 'stores decimal numbers without leading zeros',
    caughtBy: inCase,
    create: () => storing((text) => (/^\d+$/.test(text) ? `${BigInt(text)}` : text)),
  },
  ...['undefined', '\\N', 'NULL', 'None', '0', '\u200b'].map((word) => ({
    fault: `stores the tag ${JSON.stringify(word).replace('\u200b', '\\u200b')} as no tag`,
    caughtBy: 'distinguishes no tag from an empty tag and from words such as null',
    create: () => rewriting(({ tag }) => ({ tag: tag === word ? undefined : tag })),
  })),

  // Comparison of plants
  {
    fault: 'ignores letter case when it compares plants',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name, tag]).toLowerCase()),
  },
  {
    fault: 'trims names when it compares plants',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name.trim(), tag])),
  },
  {
    fault: 'ignores trailing spaces when it compares tags',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name, tag?.trimEnd()])),
  },
  {
    fault: 'normalises texts when it compares plants',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name, tag]).normalize('NFC')),
  },
  {
    fault: 'uses a key of name and tag without a separator',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => (tag === undefined ? JSON.stringify([name]) : name + tag)),
  },
  {
    fault: 'uses a key of name and tag, separated by a colon',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => (tag === undefined ? JSON.stringify([name]) : `${name}:${tag}`)),
  },
  { fault: 'compares names only', caughtBy: inSimilar, create: () => comparing(({ name }) => name) },
  {
    fault: 'treats an empty tag as no tag when it compares plants',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name, tag || undefined])),
  },
  {
    fault: 'compares only the first 191 characters of names',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name.slice(0, 191), tag])),
  },
  {
    fault: 'compares tags as numbers',
    caughtBy: inSimilar,
    create: () => comparing(({ name, tag }) => JSON.stringify([name, tag && (Number(tag) || tag)])),
  },
  {
    fault: 'ignores letter case when it compares plants of one batch',
    caughtBy: 'returns the first of similar plants with the same id in a batch as holder',
    create: () =>
      adding(async (plants, add) => {
        const last = new Map(plants.map((plant) => [`${plant.id} ${plant.name}`.toLowerCase(), plant]));
        return (await add(plants)).map((outcome) => {
          const holder =
            outcome.kind === 'taken' && last.get(`${outcome.holder.id} ${outcome.holder.name}`.toLowerCase());
          return holder ? { kind: 'taken', holder } : outcome;
        });
      }),
  },
  {
    fault: 'has a unique index on names and tags',
    caughtBy: 'adds plants that differ only in the id',
    create: () => new UniqueNamesAndTags(),
  },

  // Batches and outcomes
  {
    fault: 'returns the same array of outcomes at each call',
    caughtBy: 'does not modify outcomes after returning them',
    create: () => new ReusesOutcomes(),
  },
  {
    fault: 'throws for a frozen batch',
    caughtBy: 'does not modify the batch',
    create: () =>
      adding(async (plants, add) => {
        if (Object.isFrozen(plants)) throw new TypeError('cannot assign to read only property 0');
        return add(plants);
      }),
  },
  {
    fault: 'throws for a batch of more than 16 MiB, the limit of a packet',
    caughtBy: 'adds many megabytes in one batch',
    create: () =>
      adding(async (plants, add) => {
        if (plants.reduce((bytes, { name }) => bytes + 2 * name.length, 0) > 16 * 2 ** 20)
          throw new Error('packet too large');
        return add(plants);
      }),
  },
  {
    fault: 'returns the first of two plants in a batch as the holder of an id that was taken before',
    caughtBy: 'adds neither of two plants with a taken id in a batch',
    create: () =>
      adding(async (plants, add) => {
        const first = (id: bigint | undefined) => plants.find((plant) => plant.id === id);
        return (await add(plants)).map((outcome, index) => {
          const holder = first(plants[index]?.id);
          return outcome.kind === 'taken' && holder !== plants[index] && holder ? { kind: 'taken', holder } : outcome;
        });
      }),
  },
  {
    fault: 'reads the array a turn later',
    caughtBy: 'adds the plants that the array held when add was called',
    create: () =>
      adding(async (plants, add) => {
        await nextTurn();
        return add(plants);
      }),
  },
  {
    fault: 'misses duplicates of the first 1,000 plants later in the batch',
    caughtBy: 'finds duplicate ids among thousands of plants in one batch',
    create: () =>
      adding(async (plants, add) => {
        const before = new Set<bigint | undefined>(plants.slice(0, 1000).map(({ id }) => id));
        return (await add(plants)).map((outcome, index) =>
          index >= 1000 && before.has(plants[index]?.id) ? { kind: 'added' } : outcome,
        );
      }),
  },

  // Reading
  {
    fault: 'readAll returns an empty batch for empty storage',
    caughtBy: 'reads nothing from empty storage, not even an empty batch',
    create: () => reading((plants) => [plants]),
  },
  {
    fault: 'readAll ends with an empty batch at a multiple of 250 plants',
    caughtBy: inPageCase,
    create: () =>
      reading(function* (plants) {
        yield* toPages(plants, 250, () => true);
        if (plants.length > 0 && plants.length % 250 === 0) yield [];
      }),
  },
  ...[10, 50, 100, 128, 250, 256, 500, 512, 1000, 1024, 2000, 2048].map((size) => ({
    fault: `readAll loses a full last page of ${size} plants`,
    caughtBy: inPageCase,
    create: () => reading((plants) => toPages(plants, size, (page, rest) => page.length < size || rest > 0)),
  })),
  {
    fault: 'readAll loses a full third page of 512 plants',
    caughtBy: inPageCase,
    create: () =>
      reading((plants) => (plants.length === 1536 ? [plants.slice(0, 1024)] : plants.length ? [plants] : [])),
  },
  ...[10_000, 32_767, 50_000, 65_535, 65_536].map((limit) => ({
    fault: `readAll stops after ${limit} plants, the limit of a driver`,
    caughtBy: 'adds and reads 70,000 plants in one batch',
    create: () => reading((plants) => (plants.length ? [plants.slice(0, limit)] : [])),
  })),
  {
    fault: 'a reader that stops early leaks one of 100 connections',
    caughtBy: 'keeps working after 130 readers stop early',
    create: () => new Leaking('early stops'),
  },
  ...(
    [
      ['reads', 'read'],
      ['adds', 'add of a taken id'],
      ['errors', 'error'],
    ] as const
  ).map(([leaks, call]) => ({
    fault: `leaks one of 100 connections with each ${call}`,
    caughtBy: 'keeps working after 130 calls of each kind',
    create: () => new Leaking(leaks),
  })),

  // Errors and closing
  {
    fault: 'the error of add after close quotes names',
    caughtBy: 'an error reveals no value of a plant',
    create: () => new QuotesPlant(),
  },
  {
    fault: 'the TypeError of add quotes the batch',
    caughtBy: 'an error reveals no value of a plant',
    create: () => new QuotesArgument(),
  },
  {
    fault: 'leaves the rejection of a failed add unhandled',
    caughtBy: 'leaves no rejection unhandled',
    create: () => new LeavesRejection(),
  },
  {
    fault: 'ready stores a plant',
    caughtBy: 'is ready after opening, and checking this stores no plant',
    create: () => new ProbesWithPlant(),
  },
  {
    fault: 'close waits only for the first of several pending adds',
    caughtBy: 'close waits for pending adds',
    create: () => new ClosesAfterFirst(),
  },
  {
    fault: 'close leaves an interval running',
    caughtBy: 'close leaves no timer running',
    create: () => new KeepsTimer(),
  },
];

// Two repositories on one disk

class ReadsIndexAtOpen extends DiskRepository {
  readonly #index: Map<bigint, Plant>;
  readonly #known = new Set<bigint>();

  constructor(disk: Disk) {
    super(disk);
    this.#index = new Map(disk.plants);
  }

  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    if (outcome.kind === 'added') this.#index.set(plant.id, plant);
    this.#known.add(plant.id);
    return outcome;
  }

  protected override sorted(): Plant[] {
    return super.sorted().filter(({ id }) => this.#index.has(id) || this.#known.has(id));
  }
}

/** Checks ids, and writes a turn later, under a lock that other repositories do not share. */
class LocksInOneRepository extends DiskRepository {
  #last: Promise<unknown> = Promise.resolve();

  override add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const call = this.#last.then(async () => {
      this.assertAvailable();
      const seen = new Map(this.disk.plants);
      await nextTurn();
      return plants.map((plant): AddOutcome => {
        const holder = seen.get(plant.id);
        if (holder) return { kind: 'taken', holder };
        seen.set(plant.id, plant);
        this.disk.plants.set(plant.id, plant);
        return { kind: 'added' };
      });
    });
    this.#last = call.catch(() => {});
    return call;
  }
}

class RewritesFile extends DiskRepository {
  readonly #cache: Map<bigint, Plant>;

  constructor(disk: Disk) {
    super(disk);
    this.#cache = new Map(disk.plants);
  }

  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    this.#cache.set(plant.id, plant);
    this.disk.plants.clear();
    for (const [id, cached] of this.#cache) this.disk.plants.set(id, cached);
    return outcome;
  }
}

class OwnHoldersOnly extends DiskRepository {
  readonly #own = new Set<bigint>();

  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    if (outcome.kind === 'taken' && !this.#own.has(plant.id)) return { kind: 'taken', holder: plant };
    this.#own.add(plant.id);
    return outcome;
  }
}

const closedDisks = new WeakSet<Disk>();
class ClosesDisk extends DiskRepository {
  override async close(): Promise<void> {
    await super.close();
    closedDisks.add(this.disk);
  }

  protected override assertAvailable(): void {
    super.assertAvailable();
    if (closedDisks.has(this.disk)) throw new StorageUnavailable('the pool has ended');
  }
}

const locks = new WeakMap<Disk, Set<bigint>>();
/** Locks the ids of a batch, and fails if another batch has locked one, as after a deadlock. */
class Deadlocks extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const locked = locks.get(this.disk) ?? new Set();
    locks.set(this.disk, locked);
    const own: bigint[] = [];
    try {
      for (const { id } of plants.length > 1 ? plants : []) {
        if (locked.has(id)) throw new StorageUnavailable('deadlock detected');
        locked.add(id);
        own.push(id);
      }
      await nextTurn();
      return await super.add(plants);
    } finally {
      for (const id of own) locked.delete(id);
    }
  }
}

class ReadsByOffset extends DiskRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertAvailable();
    for (let offset = 0; ; offset += 1000) {
      const page = this.sorted().slice(offset, offset + 1000);
      if (page.length === 0) return;
      yield page;
    }
  }
}

const openings = new WeakMap<Disk, number>();
class KeepsItsConnection extends DiskRepository {
  constructor(disk: Disk) {
    super(disk);
    const count = (openings.get(disk) ?? 0) + 1;
    if (count > 10) throw new StorageUnavailable('too many connections');
    openings.set(disk, count);
  }
}

export const brokenOnSharedDisk: readonly (Fault & { open(disk: Disk): PlantRepository })[] = [
  {
    fault: 'reads the index only when it opens',
    caughtBy: 'sees what another repository added before',
    open: (disk) => new ReadsIndexAtOpen(disk),
  },
  {
    fault: 'locks inside one repository only',
    caughtBy: 'adds each id once when two repositories add it concurrently',
    open: (disk) => new LocksInOneRepository(disk),
  },
  {
    fault: 'locks inside one repository only',
    caughtBy: 'adds each id once for many concurrent calls of two repositories',
    open: (disk) => new LocksInOneRepository(disk),
  },
  {
    fault: 'writes the whole file from its memory',
    caughtBy: 'stores what both repositories add in turn',
    open: (disk) => new RewritesFile(disk),
  },
  {
    fault: 'returns its own plant as the holder of an id that another repository added',
    caughtBy: 'returns the holder of an id that another repository added',
    open: (disk) => new OwnHoldersOnly(disk),
  },
  {
    fault: 'closes the storage for all repositories',
    caughtBy: 'keeps working after another repository is closed',
    open: (disk) => new ClosesDisk(disk),
  },
  {
    fault: 'fails for overlapping batches, as after a deadlock',
    caughtBy: 'adds each id once for overlapping batches of two repositories in different order',
    open: (disk) => new Deadlocks(disk),
  },
  {
    fault: 'reads by offset',
    caughtBy: 'reads every earlier plant once while another repository adds plants',
    open: (disk) => new ReadsByOffset(disk),
  },
  {
    fault: 'keeps its connection after close',
    caughtBy: 'another repository can be opened, used and closed repeatedly',
    open: (disk) => new KeepsItsConnection(disk),
  },
];

/** Drops pending plants when it closes. */
class DropsPendingAtClose extends DiskRepository {
  #isClosing = false;

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    this.assertAvailable();
    await nextTurn();
    return this.#isClosing ? plants.map(() => ({ kind: 'added' })) : super.add(plants);
  }

  override async close(): Promise<void> {
    this.#isClosing = true;
    await super.close();
  }
}

/** Shows plants to other calls before they are on the disk. */
class ShowsPendingPlants extends DiskRepository {
  readonly #pending = new Map<bigint, Plant>();

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const holders = plants.map(({ id }) => this.#pending.get(id));
    for (const plant of plants) if (!this.#pending.has(plant.id)) this.#pending.set(plant.id, plant);
    if (holders.some((holder) => holder === undefined)) await nextTurn();
    return plants.map((plant, index): AddOutcome => {
      const holder = holders[index];
      return holder ? { kind: 'taken', holder } : this.addOne(plant);
    });
  }
}

export const brokenDurable: readonly (Fault & { open(disk: Disk): PlantRepository })[] = [
  {
    fault: 'close drops the plants of pending adds, which return added',
    caughtBy: 'after reopening, returns every plant that was added during close',
    open: (disk) => new DropsPendingAtClose(disk),
  },
  {
    fault: 'returns taken with a holder that is not on the disk yet',
    caughtBy: 'returns taken only after the holder would survive a crash',
    open: (disk) => new ShowsPendingPlants(disk),
  },
];

/** A plant that {@link rejecting} repositories reject. */
export const REJECTED_PLANT: Plant = toPlant({ id: 77_001_001n, name: 'forbidden-name', tag: 'forbidden-tag' });

const reject = (message = 'the storage rejects the plant'): AddOutcome => ({
  kind: 'rejected',
  error: new PlantRejected(message),
});
const isRejected = ({ name, tag }: Plant) => name === REJECTED_PLANT.name && tag === REJECTED_PLANT.tag;

/** Creates a repository that calls `add` for batches with {@link REJECTED_PLANT}. */
function rejecting(add: Add): PlantRepository {
  return adding((plants, correct) => (plants.some(isRejected) ? add(plants, correct) : correct(plants)));
}

/** Returns a function that adds plants one by one, and returns `outcome` for a rejected one. */
const addOneByOne =
  (outcome: (plant: Plant) => AddOutcome = () => reject()): Add =>
  async (plants, add) => {
    const outcomes: AddOutcome[] = [];
    for (const plant of plants) outcomes.push(...(isRejected(plant) ? [outcome(plant)] : await add([plant])));
    return outcomes;
  };

/** Creates a correct repository that rejects {@link REJECTED_PLANT}. */
export const createRejecting = (): PlantRepository => rejecting(addOneByOne());

class ReservesId extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return (await super.add(plants)).map((outcome, index) =>
      plants[index] && isRejected(plants[index]) ? reject() : outcome,
    );
  }

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    const plants = (await readPlants(super.readAll())).filter((plant) => !isRejected(plant));
    if (plants.length > 0) yield plants;
  }
}

class NotReadyAfterRejection extends MemoryPlantRepository {
  #hasRejected = false;

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#hasRejected ||= plants.some(isRejected);
    return addOneByOne()(plants, (others) => super.add(others));
  }

  override async ready(): Promise<void> {
    await super.ready();
    if (this.#hasRejected) throw new StorageUnavailable('the last write failed');
  }
}

/** Rejects every plant that is added alone while a rejected plant is pending. */
class RejectsConcurrent extends MemoryPlantRepository {
  #hasRejected = false;

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.#hasRejected ||= plants.some(isRejected);
    await nextTurn();
    const hasRejected = this.#hasRejected;
    await nextTurn();
    this.#hasRejected = false;
    if (hasRejected && plants.length === 1) return [reject()];
    return addOneByOne()(plants, (others) => super.add(others));
  }
}

const BATCH_CASE = 'adds the other plants of a batch with a rejected plant';
const REJECTED_CASE = 'returns rejected with a PlantRejected for a rejected plant';

export const brokenRejecting: readonly (Fault & { create(): PlantRepository })[] = [
  {
    fault: 'throws PlantRejected',
    caughtBy: REJECTED_CASE,
    create: () =>
      rejecting(async () => {
        throw new PlantRejected('the storage rejects the plant');
      }),
  },
  {
    fault: 'throws StorageUnavailable for a rejected plant',
    caughtBy: REJECTED_CASE,
    create: () =>
      rejecting(async () => {
        throw new StorageUnavailable('constraint failed');
      }),
  },
  {
    fault: 'returns rejected with an error that is not a PlantRejected',
    caughtBy: REJECTED_CASE,
    create: () => rejecting(addOneByOne(() => Object.assign(reject(), { error: new Error('constraint failed') }))),
  },
  {
    fault: 'returns added for a rejected plant',
    caughtBy: REJECTED_CASE,
    create: () => rejecting(addOneByOne(() => ({ kind: 'added' }))),
  },
  {
    fault: 'truncates a rejected plant',
    caughtBy: REJECTED_CASE,
    create: () =>
      rejecting((plants, add) =>
        add(plants.map((plant) => (isRejected(plant) ? toPlant({ id: plant.id, name: 'forbidden' }) : plant))),
      ),
  },
  {
    fault: 'the error of a rejected plant quotes it',
    caughtBy: 'the error of a rejected plant reveals no value of it',
    create: () => rejecting(addOneByOne(({ name }) => reject(`the name ${name} is too long`))),
  },
  {
    fault: 'rejects the whole batch of a rejected plant',
    caughtBy: BATCH_CASE,
    create: () => rejecting(async (plants) => plants.map(() => reject())),
  },
  {
    fault: 'drops the plants after a rejected one',
    caughtBy: BATCH_CASE,
    create: () =>
      rejecting(async (plants, add) => {
        const first = plants.findIndex(isRejected);
        await add(plants.slice(0, first));
        return plants.map((_, index) => (index === first ? reject() : { kind: 'added' }));
      }),
  },
  {
    fault: 'rejects every plant of a batch of more than 100 with a rejected one',
    caughtBy: 'adds the rest of a large batch with a rejected plant',
    create: () =>
      rejecting((plants, add) =>
        plants.length > 100 ? Promise.resolve(plants.map(() => reject())) : addOneByOne()(plants, add),
      ),
  },
  {
    fault: 'returns added for taken ids in a batch with a rejected plant',
    caughtBy: 'returns the holders of a batch with a rejected plant',
    create: () =>
      rejecting(async (plants, add) =>
        (await addOneByOne()(plants, add)).map((outcome) => (outcome.kind === 'taken' ? { kind: 'added' } : outcome)),
      ),
  },
  {
    fault: 'rejects calls that are concurrent with a rejected plant',
    caughtBy: 'adds the plants of concurrent calls',
    create: () => new RejectsConcurrent(),
  },
  {
    fault: 'is not ready after a rejected plant',
    caughtBy: 'rejects a plant each time, and stays ready',
    create: () => new NotReadyAfterRejection(),
  },
  {
    fault: 'a rejected plant holds its id',
    caughtBy: 'a rejected plant does not hold its id',
    create: () => new ReservesId(),
  },
];

/** Keeps an index in memory, which it updates before the disk. */
class IndexAheadOfDisk extends DiskRepository {
  readonly #index = new Map(this.disk.plants);

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.closed) this.assertAvailable();
    const outcomes = plants.map((plant): AddOutcome => {
      const holder = this.#index.get(plant.id);
      if (holder) return { kind: 'taken', holder };
      this.#index.set(plant.id, plant);
      return { kind: 'added' };
    });
    this.assertAvailable();
    for (const [index, plant] of plants.entries()) if (outcomes[index]?.kind === 'added') this.addOne(plant);
    return outcomes;
  }
}

/** Also reads from its memory. */
class CacheAheadOfDisk extends IndexAheadOfDisk {
  readonly #cache = new Map(this.disk.plants);

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    for (const plant of plants) if (!this.#cache.has(plant.id)) this.#cache.set(plant.id, plant);
    return super.add(plants);
  }

  protected override sorted(): Plant[] {
    return [...this.#cache.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

class DropsInOutage extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (!this.closed && this.disk.isUnavailable) return plants.map(() => ({ kind: 'added' }));
    return super.add(plants);
  }
}

/** Acknowledges before it writes. */
class WritesTooLate extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    this.assertAvailable();
    const outcomes = plants.map((plant): AddOutcome => {
      const holder = this.disk.plants.get(plant.id);
      return holder ? { kind: 'taken', holder } : { kind: 'added' };
    });
    setImmediate(() => {
      if (!this.disk.isUnavailable) for (const plant of plants) super.addOne(plant);
    });
    return outcomes;
  }
}

/** Continues in memory after an outage. */
class ForgetsDisk extends DiskRepository {
  #memory: Map<bigint, Plant> | undefined;

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.disk.isUnavailable) this.#memory ??= new Map(this.disk.plants);
    this.assertAvailable();
    if (!this.#memory) return super.add(plants);
    const memory = new DiskRepository({ plants: this.#memory, isUnavailable: false });
    return memory.add(plants);
  }

  protected override sorted(): Plant[] {
    return [...(this.#memory ?? this.disk.plants).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** Reconnects with a timer that `close` does not stop. */
class ReconnectsForever extends DiskRepository {
  override async ready(): Promise<void> {
    if (this.disk.isUnavailable) timers.push(setInterval(() => {}, 60_000));
    this.assertAvailable();
  }
}

class QuotesPlantInOutage extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.disk.isUnavailable) throw new StorageUnavailable(`cannot write ${plants.map(({ id }) => id)}`);
    return super.add(plants);
  }
}

class ReadsAheadInOutage extends DiskRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    for await (const batch of super.readAll()) {
      try {
        yield batch;
      } finally {
        // Reads the next page without waiting for it.
        void nextTurn().then(() => this.assertAvailable());
      }
    }
  }
}

export const brokenInOutage: readonly (Fault & { open(disk: Disk): PlantRepository })[] = [
  {
    fault: 'the error of an outage contains the id',
    caughtBy: 'the error of an outage reveals no value of a plant',
    open: (disk) => new QuotesPlantInOutage(disk),
  },
  {
    fault: 'does not stop reconnecting after close',
    caughtBy: 'close during an outage leaves no timer running',
    open: (disk) => new ReconnectsForever(disk),
  },
  {
    fault: 'reads ahead without handling an error',
    caughtBy: 'a reader that stops during an outage leaves no rejection unhandled',
    open: (disk) => new ReadsAheadInOutage(disk),
  },
  {
    fault: 'updates its index before the disk',
    caughtBy: 'a plant reported as added or taken after an outage survives',
    open: (disk) => new IndexAheadOfDisk(disk),
  },
  {
    fault: 'updates its index before the disk',
    caughtBy:
      'after an outage, adding another plant with the same id returns added, or taken with a holder that survives',
    open: (disk) => new IndexAheadOfDisk(disk),
  },
  {
    fault: 'updates its index before the disk',
    caughtBy: 'a batch reported as stored after an outage survives',
    open: (disk) => new IndexAheadOfDisk(disk),
  },
  {
    fault: 'reads from a cache that is ahead of the disk',
    caughtBy: 'after an outage, reads only plants that survive a restart',
    open: (disk) => new CacheAheadOfDisk(disk),
  },
  {
    fault: 'acknowledges plants during an outage and drops them',
    caughtBy: 'a plant reported as added or taken after an outage survives',
    open: (disk) => new DropsInOutage(disk),
  },
  {
    fault: 'acknowledges plants before it writes them',
    caughtBy: 'adds pending when an outage starts report only plants that survive',
    open: (disk) => new WritesTooLate(disk),
  },
  {
    fault: 'continues in memory after an outage',
    caughtBy: 'plants added before and after an outage survive a crash',
    open: (disk) => new ForgetsDisk(disk),
  },
];
