import {
  type AddOutcome,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type Plant,
  type PlantId,
  type PlantRepository,
  StorageUnavailable,
} from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toCode } from './driver-errors.js';
import { fitsStatement, type StoredRow, selectPage, selectStored } from './rows.js';

/** Stores plants in the table `plants` of a SQL database. Subclasses run statements on a pool or in the caller's transaction. */
export abstract class KnexPlantRepository implements PlantRepository {
  protected readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  /** Makes a call, and converts its failures. */
  protected abstract call<T>(work: () => Promise<T>): Promise<T>;

  /** Runs a statement of a call. */
  protected abstract run<T>(statement: (knex: Knex) => Promise<T>): Promise<T>;

  add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    const copy = [...plants];
    return this.call(() => this.#add(copy));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // Ascending ids prevent deadlocks between overlapping batches of several instances.
    const ascending = plants.toSorted(compareIds);
    const unique = ascending.filter(({ id }, index) => id !== ascending[index - 1]?.id);
    const outcomeById = new Map<PlantId, AddOutcome>();
    await this.#addUnique(unique, outcomeById);
    const outcomes: AddOutcome[] = [];
    for (const plant of plants) {
      const outcome = outcomeById.get(plant.id);
      outcomes.push(outcome ?? { kind: 'added' });
      // Of several plants with the same id, the first wins.
      if (!outcome) outcomeById.set(plant.id, { kind: 'conflict', stored: plant });
    }
    return outcomes;
  }

  /**
   * Adds plants with distinct ids, and sets the outcome of each plant that was not added. Splits a batch that is too
   * large for a statement, or that contains a plant that the engine rejects.
   */
  async #addUnique(batch: readonly Plant[], outcomeById: Map<PlantId, AddOutcome>): Promise<void> {
    const [plant] = batch;
    if (plant === undefined) return;
    if (!fitsStatement(batch)) return this.#addHalves(batch, outcomeById);
    try {
      const inUse = await this.run((knex) => this.dialect.insertFree(knex, batch));
      if (inUse.length === 0) return;
      // A stored plant may be visible before it is durable, and a statement that inserts nothing does not wait for a sync.
      if (inUse.length === batch.length) await this.run(async (knex) => knex.raw(this.dialect.syncWrite));
      const stored = await this.run((knex) => selectStored(knex, this.dialect, inUse));
      for (const row of stored) outcomeById.set(row.id, toConflict(row));
      if (stored.length < inUse.length)
        throw new StorageUnavailable('plants disappeared from the storage during a read');
    } catch (error) {
      if (this.dialect.classify(error) !== 'rejected') throw error;
      if (batch.length > 1) return this.#addHalves(batch, outcomeById);
      const rejection = new Error(`the storage rejected the plant (${toCode(error)})`);
      outcomeById.set(plant.id, { kind: 'rejected', error: rejection });
    }
  }

  async #addHalves(batch: readonly Plant[], outcomeById: Map<PlantId, AddOutcome>): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await this.#addUnique(batch.slice(0, middle), outcomeById);
    await this.#addUnique(batch.slice(middle), outcomeById);
  }

  /** Reads pages, because a cursor would keep a transaction open while the caller works. */
  async *readAll(): AsyncGenerator<readonly Plant[]> {
    let from = MIN_PLANT_ID;
    for (;;) {
      const plants = await this.#readPage(from);
      const last = plants.at(-1);
      if (last === undefined) return;
      yield plants;
      if (last.id === MAX_PLANT_ID) return;
      from = last.id + 1n;
    }
  }

  async #readPage(from: PlantId): Promise<readonly Plant[]> {
    const rows = await this.call(() => this.run((knex) => selectPage(knex, this.dialect, from)));
    return rows.map(toPlant);
  }
}

function compareIds(a: Plant, b: Plant): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function toConflict({ content }: StoredRow): AddOutcome {
  if (content.kind === 'valid') return { kind: 'conflict', stored: content.plant };
  return { kind: 'rejected', error: new Error('the stored row with this id is not a valid plant') };
}

function toPlant({ content }: StoredRow): Plant {
  if (content.kind === 'valid') return content.plant;
  throw new StorageUnavailable('a stored row is not a valid plant');
}
