import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import {
  type AddOutcome,
  isStorageUnavailable,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type Plant,
  type PlantResult,
  type PlantStorage,
  StorageUnavailable,
} from '../../../core/index.js';
import { type Engine, retryWhileBusy, selectRows, selectStored, TEXT_BYTES, textLength, toCode } from './engine.js';

/** Maximum number of rows per statement, written or read. */
const MAX_ROWS = 4000;
/** Maximum text of these rows, in UTF-16 code units or, when read, in UTF-8 bytes; a single plant may exceed it. */
const MAX_TEXT = 1024 * 1024;
/** Longer than most names, but stored in the row: MariaDB 10.11 crashes on a full disk when it stores a value off-page. */
const PROBE_NAME_LENGTH = 4000;

/** Stores plants in the table `plants` of a SQL database. */
export class KnexPlantRepository implements PlantStorage {
  readonly #knex: Knex;
  readonly #engine: Engine;
  readonly #timeoutMs: number;
  readonly #callsInFlight = new Set<Promise<unknown>>();
  /** Whether a write has to show that plants can be added: at first, and after an `add` that failed or took too long. */
  #mustProbe: boolean;
  #closing: Promise<void> | undefined;

  /**
   * @param knex The connection pool. `close` destroys it.
   * @param timeoutMs Maximum time to retry a statement while the engine is busy, in milliseconds.
   * @param readOnly Whether `ready` checks reads alone.
   */
  constructor(knex: Knex, engine: Engine, timeoutMs: number, readOnly: boolean) {
    this.#knex = knex;
    this.#engine = engine;
    this.#timeoutMs = timeoutMs;
    this.#mustProbe = !readOnly;
  }

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    const copy = [...plants];
    const mustProbe = () => {
      this.#mustProbe = true;
    };
    // The caller may not wait for longer.
    const timer = setTimeout(mustProbe, this.#timeoutMs);
    try {
      return await this.#call(() => this.#add(copy));
    } catch (error) {
      mustProbe();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // Ascending ids prevent deadlocks between overlapping batches of several instances.
    const ascending = plants.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const unique = ascending.filter(({ id }, index) => id !== ascending[index - 1]?.id);
    const outcomes = new Map<bigint, AddOutcome>();
    await this.#addUnique(unique, outcomes);
    return plants.map((plant) => {
      const outcome = outcomes.get(plant.id);
      if (outcome) return outcome;
      // Later plants in the batch with the same id are duplicates.
      outcomes.set(plant.id, { kind: 'conflict', stored: plant });
      return { kind: 'added' };
    });
  }

  /**
   * Adds plants with distinct ids, and sets the outcome of each plant that was not added. Splits a batch that is too
   * large for a statement, or that contains a plant that the engine rejects.
   */
  async #addUnique(batch: readonly Plant[], outcomes: Map<bigint, AddOutcome>): Promise<void> {
    const [plant] = batch;
    if (plant === undefined) return;
    if (!fitsStatement(batch)) return this.#addHalves(batch, outcomes);
    try {
      const inUse = await this.#retry(() => this.#engine.insert(this.#knex, batch));
      if (inUse.length === 0) return;
      // A stored plant may be visible before it is durable, and a statement that inserts nothing does not wait for a sync.
      if (inUse.length === batch.length) await this.#retry(async () => this.#knex.raw(this.#engine.commit));
      const stored = await this.#retry(() => selectStored(this.#knex, this.#engine, inUse));
      for (const row of stored) outcomes.set(row.id, toConflict(row));
      if (stored.length < inUse.length)
        throw new StorageUnavailable('plants disappeared from the storage during a read');
    } catch (error) {
      if (this.#engine.classify(error) !== 'rejected') throw error;
      if (batch.length > 1) return this.#addHalves(batch, outcomes);
      outcomes.set(plant.id, {
        kind: 'rejected',
        error: new Error(`the storage rejected the plant (${toCode(error)})`),
      });
    }
  }

  async #addHalves(batch: readonly Plant[], outcomes: Map<bigint, AddOutcome>): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await this.#addUnique(batch.slice(0, middle), outcomes);
    await this.#addUnique(batch.slice(middle), outcomes);
  }

  /** Reads pages, because a cursor would keep a transaction open while the caller works. */
  async *readAll(): AsyncGenerator<readonly Plant[]> {
    const { textToId } = this.#engine;
    const condition = `id BETWEEN ${textToId} AND (${lastIdOfPage(textToId)})`;
    const read = (from: bigint) =>
      this.#call(() => this.#retry(() => selectRows(this.#knex, this.#engine, condition, [from, from])));
    let page = read(MIN_PLANT_ID);
    for (let last = MIN_PLANT_ID; last < MAX_PLANT_ID; ) {
      const plants = (await page).map(toPlant);
      last = plants.at(-1)?.id ?? MAX_PLANT_ID;
      // Reads the next page while the caller uses this one. Its error only matters if the caller continues.
      if (last < MAX_PLANT_ID) page = read(last + 1n);
      page.catch(() => {});
      if (plants.length > 0) yield plants;
    }
  }

  ready(): Promise<void> {
    return this.#call(async () => {
      await this.#knex('plants').select(this.#knex.raw('1')).limit(1);
      if (!this.#mustProbe) return;
      // Cleared first, because an `add` may fail meanwhile.
      this.#mustProbe = false;
      await this.#retry(() => this.#tryInsert()).catch((error) => {
        this.#mustProbe = true;
        throw error;
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#callsInFlight).then(() => this.#knex.destroy());
    return this.#closing;
  }

  /** Throws after `close`, lets `close` wait for the call, and translates its errors. */
  async #call<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = start();
    this.#callsInFlight.add(call);
    try {
      return await call;
    } catch (error) {
      // Without the error as the cause: drivers quote values in messages, and Knex the SQL.
      throw isStorageUnavailable(error)
        ? error
        : new StorageUnavailable(`the storage is unavailable (${toCode(error)})`);
    } finally {
      this.#callsInFlight.delete(call);
    }
  }

  #retry<T>(statement: () => Promise<T>): Promise<T> {
    return retryWhileBusy(this.#engine, this.#timeoutMs, statement);
  }

  /**
   * Commits a write, then checks privileges and free space with an insert that the engine undoes, because its second
   * row violates constraints. In a transaction, a ROLLBACK that fails would leave the transaction open in the pool.
   */
  async #tryInsert(): Promise<void> {
    const { commit, textToId, undoesFailedInserts = 'true' } = this.#engine;
    await this.#knex.raw(commit);
    // A large name, which does not compress.
    const name = randomBytes(PROBE_NAME_LENGTH / 2).toString('hex');
    const id = `${randomBytes(8).readBigInt64BE()}`;
    const insert = `INSERT INTO plants (id, name, tag)
      SELECT ${textToId}, name, NULL FROM (SELECT ? AS name UNION ALL SELECT NULL) AS names WHERE ${undoesFailedInserts}`;
    try {
      await this.#knex.raw(insert, [id, name]);
    } catch (error) {
      // A trigger may reject the first row; plants that it accepts can be added.
      if (this.#engine.classify(error) !== 'rejected') throw error;
    }
  }
}

function fitsStatement(batch: readonly Plant[]): boolean {
  if (batch.length === 1) return true;
  const text = batch.reduce((sum, plant) => sum + textLength(plant), 0);
  return batch.length <= MAX_ROWS && text <= MAX_TEXT;
}

function toConflict(result: PlantResult): AddOutcome {
  if (result.kind === 'valid') return { kind: 'conflict', stored: result.plant };
  return { kind: 'rejected', error: new Error('the stored row with this id is not a valid plant') };
}

function toPlant(result: PlantResult): Plant {
  if (result.kind === 'valid') return result.plant;
  throw new StorageUnavailable('a stored row is not a valid plant');
}

/** Returns SQL for the last id of the page that starts at the id bound to its `?`. Reads sizes only, not strings. */
function lastIdOfPage(textToId: string): string {
  // If all rows fit, a plain SUM shows this in a quarter of the time of a running sum.
  return `WITH sized AS (
      SELECT id, ${TEXT_BYTES} AS bytes
      FROM plants WHERE id >= ${textToId} ORDER BY id LIMIT ${MAX_ROWS}
    )
    SELECT CASE WHEN SUM(bytes) < ${MAX_TEXT} THEN MAX(id) ELSE (
      SELECT MAX(id) FROM (
        SELECT id, SUM(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM sized
      ) AS page WHERE bytes_before < ${MAX_TEXT}
    ) END FROM sized`;
}
