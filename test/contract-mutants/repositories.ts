/** A correct repository, and faults that a case must detect. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlantRepositoryHarness } from '@plant-store/contract';
import {
  type AddOutcome,
  MIN_PLANT_ID,
  type OpenPlantRepository,
  type Plant,
  type PlantId,
  StorageUnavailable,
} from '@plant-store/core';
import { toPlant } from '../support/plants.js';

const REJECTED_PLANT: Plant = toPlant({ id: 77_001_001n, name: 'forbidden-name', tag: 'forbidden-tag' });

/** Storage that survives its repositories and can become unavailable. */
class Disk {
  readonly plants = new Map<PlantId, Plant>();
  isUnavailable = false;
}

/** A correct repository. Faults override its methods. */
class DiskRepository implements OpenPlantRepository {
  readonly disk: Disk;
  isClosed = false;

  constructor(disk: Disk) {
    this.disk = disk;
  }

  check(): void {
    if (this.isClosed || this.disk.isUnavailable) throw new StorageUnavailable('the disk is unavailable');
  }

  addOne(plant: Plant): AddOutcome {
    if (plant.equals(REJECTED_PLANT)) return { kind: 'rejected', error: new Error('the disk rejects the plant') };
    const stored = this.disk.plants.get(plant.id);
    if (stored !== undefined) return { kind: 'conflict', stored };
    this.disk.plants.set(plant.id, plant);
    return { kind: 'added' };
  }

  sorted(): readonly Plant[] {
    return [...this.disk.plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    this.check();
    return plants.map((plant) => this.addOne(plant));
  }

  async find(id: PlantId): Promise<Plant | undefined> {
    this.check();
    return this.disk.plants.get(id);
  }

  async read(from: PlantId, limit: number): Promise<readonly Plant[]> {
    this.check();
    const plants = this.sorted().filter(({ id }) => id >= from);
    return plants.slice(0, limit);
  }

  async ready(): Promise<void> {
    this.check();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** Creates the harness of a repository, by default a correct one. */
export function createHarness(Repository: typeof DiskRepository = DiskRepository): Required<PlantRepositoryHarness> {
  let disk: Disk;
  const reopen = async () => new Repository(disk);
  return {
    open: () => {
      disk = new Disk();
      return reopen();
    },
    reopen,
    openAnother: reopen,
    whileUnavailable: async (work) => {
      disk.isUnavailable = true;
      await work().finally(() => {
        disk.isUnavailable = false;
      });
    },
    rejectedPlant: () => REJECTED_PLANT,
  };
}

/** Faulty repositories, by the case that detects each. */
export const faultyRepositories: Readonly<Record<string, typeof DiskRepository>> = {
  'stores ids exactly, at both ends of int64 and around 2^53': class RoundsIds extends DiskRepository {
    override addOne(plant: Plant) {
      return super.addOne(toPlant({ ...plant, id: BigInt.asIntN(64, BigInt(Number(plant.id))) }));
    }
  },

  'stores strings code point for code point, and an absent tag as absent': class TrimsTags extends DiskRepository {
    override addOne({ id, name, tag }: Plant) {
      return super.addOne(toPlant({ id, name, tag: tag?.trimEnd() }));
    }
  },

  'never changes a stored plant, and returns it as stored for similar ones': class IgnoresCase extends DiskRepository {
    override addOne(plant: Plant) {
      const outcome = super.addOne(plant);
      const isSimilar = outcome.kind === 'conflict' && outcome.stored.name.toLowerCase() === plant.name.toLowerCase();
      return isSimilar ? ({ kind: 'conflict', stored: plant } as const) : outcome;
    }
  },

  'adds the first of several plants with the same id in a batch': class UnescapesTwice extends DiskRepository {
    override addOne({ id, name, tag }: Plant) {
      return super.addOne(toPlant({ id, name: unescape(unescape(escape(name))), tag }));
    }
  },

  'stores a string of more than 16 MB whole, or not at all': class CutsText extends DiskRepository {
    override addOne({ id, name, tag }: Plant) {
      return super.addOne(toPlant({ id, name: name.slice(0, 2 ** 24 - 1), tag }));
    }
  },

  'keeps working after 130 calls of each kind': class RejectsInBackground extends DiskRepository {
    override async ready() {
      this.check();
      void nextTurn().then(() => {
        throw new Error('nothing handles this');
      });
    }
  },

  'returns an outcome per plant in their order, and does not modify it later': class SortsBatch extends DiskRepository {
    override add(plants: readonly Plant[]) {
      return super.add([...plants].sort((a, b) => (a.id < b.id ? -1 : 1)));
    }
  },

  'adds the plants that the array held when add was called, and does not modify it': class ReadsArrayLater extends DiskRepository {
    override async add(plants: readonly Plant[]) {
      await undefined;
      return super.add(plants);
    }
  },

  'reads every earlier plant once, ordered by id, during concurrent adds': class PagesByOffset extends DiskRepository {
    #start = 0;
    override async read(from: PlantId, limit: number) {
      this.check();
      this.#start = from === MIN_PLANT_ID ? 0 : this.#start + limit;
      return this.sorted().slice(this.#start, this.#start + limit);
    }
  },

  'reads every plant once, ordered by id, for each of several readers': class ReadsRangesOfIds extends DiskRepository {
    override async read(from: PlantId, limit: number) {
      const plants = await super.read(from, limit);
      return plants.filter(({ id }) => id < from + BigInt(limit));
    }
  },

  'finds a plant once it was added, and nothing under a free id': class FindsNearest extends DiskRepository {
    override find(id: PlantId) {
      return super.find(BigInt.asIntN(64, BigInt(Number(id))));
    }
  },

  'reads the plants from an id on, whether or not a plant has it': class ReadsAfterId extends DiskRepository {
    override read(from: PlantId, limit: number) {
      return super.read(from + 1n, limit);
    }
  },

  'reads at most a given number of plants at once': class ReadsFullBatches extends DiskRepository {
    override read(from: PlantId) {
      return super.read(from, 1000);
    }
  },

  'finds and reads every plant that was added before the call, whatever else is in flight': class JoinsFinds extends DiskRepository {
    readonly #finds = new Map<PlantId, Promise<Plant | undefined>>();
    override find(id: PlantId) {
      const found = this.#finds.get(id) ?? super.find(id).finally(() => nextTurn().then(() => this.#finds.delete(id)));
      this.#finds.set(id, found);
      return found;
    }
  },

  'finds and reads every plant that another repository added before the call': class CachesPages extends DiskRepository {
    readonly #pages = new Map<string, readonly Plant[]>();
    override async read(from: PlantId, limit: number) {
      const page = this.#pages.get(`${from} ${limit}`) ?? (await super.read(from, limit));
      this.#pages.set(`${from} ${limit}`, page);
      return [...page];
    }
    override add(plants: readonly Plant[]) {
      this.#pages.clear();
      return super.add(plants);
    }
  },

  'reads every plant if the count is a common page size, or one more': class RepeatsAtChunks extends DiskRepository {
    override async read(from: PlantId, limit: number) {
      const plants = await super.read(from, limit);
      return [...plants.slice(0, 1000), ...plants.slice(999, limit - 1)];
    }
  },

  'close waits for calls in flight': class ClosesDuringReads extends DiskRepository {
    override async read(from: PlantId, limit: number) {
      const plants = await super.read(from, limit);
      await nextTurn();
      return plants;
    }
  },

  'returns ids, strings and the first plant with an id unchanged after reopening': class IndexesAtFirstRead extends DiskRepository {
    #hasIndex = false;
    override async find(id: PlantId) {
      return this.#hasIndex ? super.find(id) : undefined;
    }
    override read(from: PlantId, limit: number) {
      this.#hasIndex = true;
      return super.read(from, limit);
    }
    override add(plants: readonly Plant[]) {
      this.#hasIndex = true;
      return super.add(plants);
    }
  },

  'leaves batches to the reader, who may keep and modify them': class KeepsBatches extends DiskRepository {
    readonly #batches = new Map<PlantId, readonly Plant[]>();
    override async read(from: PlantId, limit: number) {
      const batch = this.#batches.get(from) ?? (await super.read(from, limit));
      this.#batches.set(from, batch);
      return batch;
    }
  },

  'stores strings of a megabyte, many of them in one batch': class OmitsLargePlants extends DiskRepository {
    override async read(from: PlantId, limit: number) {
      const plants = await super.read(from, limit);
      return plants.filter(({ name }) => name.length < 2 ** 19);
    }
  },

  'reads and returns as stored what others added, which are opened, used and closed': class CachesMisses extends DiskRepository {
    readonly #free = new Set<PlantId>();
    override async find(id: PlantId) {
      const plant = this.#free.has(id) ? undefined : await super.find(id);
      if (plant === undefined) this.#free.add(id);
      return plant;
    }
    override add(plants: readonly Plant[]) {
      for (const { id } of plants) if (!this.disk.plants.has(id)) this.#free.delete(id);
      return super.add(plants);
    }
  },

  'close is idempotent, and each later call throws StorageUnavailable': class AddsNothingClosed extends DiskRepository {
    override async add(plants: readonly Plant[]) {
      return plants.length === 0 ? [] : super.add(plants);
    }
  },

  'find and read in flight during close return every plant or throw StorageUnavailable': class EndsReaders extends DiskRepository {
    override async read(from: PlantId, limit: number) {
      const plants = await super.read(from, limit);
      await nextTurn();
      return this.isClosed ? [] : plants;
    }
  },

  'find and read return every plant or throw StorageUnavailable': class FindsNothingInOutages extends DiskRepository {
    override async find(id: PlantId) {
      return this.disk.isUnavailable ? undefined : super.find(id);
    }
  },

  'returns every added plant after a crash and after closing, and adds more': class WritesOnClose extends DiskRepository {
    readonly #stored: Disk;
    constructor(disk: Disk) {
      super(Object.assign(new Disk(), { plants: new Map(disk.plants) }));
      this.#stored = disk;
    }
    override async close() {
      for (const plant of this.sorted()) this.#stored.plants.set(plant.id, plant);
      await super.close();
    }
  },

  'reports a conflict only after the stored plant would survive a crash': class RemembersTooEarly extends DiskRepository {
    readonly #pending = new Map<PlantId, Plant>();
    override async add(plants: readonly Plant[]) {
      const stored = plants.flatMap(({ id }) => this.#pending.get(id) ?? []);
      if (stored.length > 0) return stored.map((stored) => ({ kind: 'conflict', stored }) as const);
      for (const plant of plants) this.#pending.set(plant.id, plant);
      await nextTurn();
      this.#pending.clear();
      return super.add(plants);
    }
  },

  'adds each id once for concurrent calls and overlapping batches of both': class LocksInProcess extends DiskRepository {
    #last: Promise<unknown> = Promise.resolve();
    override add(plants: readonly Plant[]) {
      const adding = this.#last.then(async () => {
        const free = plants.filter(({ id }) => !this.disk.plants.has(id));
        await nextTurn();
        for (const { id } of free) this.disk.plants.delete(id);
        return super.add(plants);
      });
      this.#last = adding.catch(() => {});
      return adding;
    }
  },

  'ready resolves only if plants can be read and no add failed': class IsAlwaysReady extends DiskRepository {
    override async ready() {}
  },

  'plants that were added, read or returned as stored survive a restart': class ReadsFailedPlants extends DiskRepository {
    readonly #failed = new Map<PlantId, Plant>();
    override add(plants: readonly Plant[]) {
      if (this.disk.isUnavailable) for (const plant of plants) this.#failed.set(plant.id, plant);
      return super.add(plants);
    }
    override sorted() {
      const plants = new Map([...this.#failed, ...this.disk.plants]);
      return [...plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    }
  },

  'returns rejected with an Error that reveals no value of the plant': class QuotesRejectedPlants extends DiskRepository {
    override addOne(plant: Plant) {
      const outcome = super.addOne(plant);
      return outcome.kind === 'rejected' ? { ...outcome, error: new Error(`the name ${plant.name} is bad`) } : outcome;
    }
  },

  'adds or finds the other plants of a batch': class RejectsBatches extends DiskRepository {
    override async add(plants: readonly Plant[]) {
      const outcomes = await super.add(plants);
      const rejected = outcomes.find(({ kind }) => kind === 'rejected');
      return rejected ? outcomes.map(() => rejected) : outcomes;
    }
  },

  'adds another plant with the id of a rejected one in the same batch': class AddsFirstOfId extends DiskRepository {
    override async add(plants: readonly Plant[]) {
      const outcomes = new Map<PlantId, AddOutcome>();
      return plants.map((plant) => {
        const outcome = outcomes.get(plant.id) ?? this.addOne(plant);
        if (outcome.kind === 'rejected') outcomes.set(plant.id, outcome);
        return outcome;
      });
    }
  },
};
