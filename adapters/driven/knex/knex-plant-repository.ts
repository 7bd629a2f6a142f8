import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import {
  type AddOutcome,
  isPlantStoreError,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  Plant,
  PlantRejected,
  type PlantRepository,
  StorageUnavailable,
  TEXT_FIELDS,
  toNewPlant,
} from '../../../core/index.js';
import { type StorageLifecycle, StorageTimeout, withTimeout } from '../monitoring/index.js';
import { classifyError, DriverError, type Engine, type PlantRow, retryWhileBusy, selectHolders } from './engine.js';

const ADDED: AddOutcome = { kind: 'added' };
/** Longer than most names, but stored in the row: MariaDB 10.11 crashes on a full disk when it stores a value off-page. */
const PROBE_NAME_LENGTH = 4000;
/** Maximum time for a probe to retry while the engine is busy, in milliseconds. `close` waits for a probe of SQLite. */
const PROBE_RETRY_MS = 1000;
/** Maximum number of rows per statement, written or read. */
const MAX_ROWS = 4000;
/** Maximum text of these rows, in UTF-16 code units or, when read, in UTF-8 bytes; a single plant may exceed it. */
const MAX_TEXT = 1024 * 1024;

/**
 * Stores plants in the table `plants` of a SQL database. `add` throws StorageTimeout if a statement takes too long; it
 * ends by itself, because the server, the driver and the pool have timeouts. `ready` only reads; {@link probe} writes.
 */
export class KnexPlantRepository implements PlantRepository, StorageLifecycle {
  readonly #knex: Knex;
  readonly #engine: Engine;
  readonly #timeoutMs: number;
  readonly #callsInFlight = new Set<Promise<unknown>>();
  #probeInFlight: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param knex The connection pool. `close` destroys it.
   * @param timeoutMs The maximum time for a write, and for retries while the engine is busy, in milliseconds.
   */
  constructor(knex: Knex, engine: Engine, timeoutMs: number) {
    this.#knex = knex;
    this.#engine = engine;
    this.#timeoutMs = timeoutMs;
  }

  add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    return this.#whileOpen(() => this.#add([...plants]));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    // Ascending ids prevent deadlocks between overlapping batches of several instances.
    const ascending = plants.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const unique = ascending.filter(({ id }, index) => id !== ascending[index - 1]?.id);
    const notAdded = new Map<bigint, AddOutcome>();
    await this.#addBatch(unique, notAdded);

    return plants.map((plant) => {
      const outcome = notAdded.get(plant.id);
      if (outcome) return outcome;
      // Later plants in the batch with the same id are duplicates.
      if (unique.length < plants.length) notAdded.set(plant.id, { kind: 'taken', holder: plant });
      return ADDED;
    });
  }

  /** Adds plants with distinct ids. Splits a batch that is too large, and isolates a plant that the engine rejects. */
  async #addBatch(batch: readonly Plant[], notAdded: Map<bigint, AddOutcome>): Promise<void> {
    const [plant] = batch;
    if (plant === undefined) return;
    try {
      if (!exceedsStatement(batch)) {
        const taken = await this.#write(() => this.#engine.insert(this.#knex, batch));
        if (taken.length === 0) return;
        const holders = await this.#write(() => selectHolders(this.#knex, this.#engine, taken));
        if (holders.length < taken.length)
          throw new StorageUnavailable('plants disappeared from the storage during a read');
        for (const row of holders) notAdded.set(BigInt(row.id), toHolderOutcome(row));
        return;
      }
    } catch (error) {
      if (!(error instanceof PlantRejected)) throw error;
      if (batch.length === 1) {
        notAdded.set(plant.id, { kind: 'rejected', error });
        return;
      }
    }
    const middle = Math.ceil(batch.length / 2);
    await this.#addBatch(batch.slice(0, middle), notAdded);
    await this.#addBatch(batch.slice(middle), notAdded);
  }

  /** Reads pages: a cursor would keep a transaction open as long as the reader takes. */
  async *readAll(): AsyncGenerator<readonly Plant[]> {
    const { select, textToIdSql } = this.#engine;
    const condition = `id BETWEEN ${textToIdSql} AND (${lastIdOfPage(textToIdSql)})`;
    const read = (from: bigint) =>
      this.#whileOpen(() => this.#run(() => select(this.#knex, condition, [`${from}`, `${from}`])));
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

  async ready(): Promise<void> {
    await this.#whileOpen(() => this.#run(async () => this.#knex('plants').select(this.#knex.raw('1')).limit(1)));
  }

  /** Checks that plants can be added, without adding one. Concurrent calls share one probe. */
  async probe(): Promise<void> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    this.#probeInFlight ??= this.#run(() => this.#probeWrites(), PROBE_RETRY_MS).finally(() => {
      this.#probeInFlight = undefined;
    });
    await this.#probeInFlight;
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#callsInFlight).then(async () => {
      const destroyed = this.#knex.destroy();
      // A probe that hangs in a server keeps its connection, so `destroy` would not finish.
      if (!this.#probeInFlight || !this.#engine.hangingProbesSql) await destroyed;
    });
    return this.#closing;
  }

  /** Throws after `close`, and lets `close` wait for calls in flight. */
  async #whileOpen<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = start();
    this.#callsInFlight.add(call);
    return call.finally(() => this.#callsInFlight.delete(call));
  }

  /** Runs a statement, retries it while the engine is busy, and translates errors of the driver. */
  async #run<T>(statement: () => Promise<T>, retryMs: number = this.#timeoutMs): Promise<T> {
    try {
      const result = await retryWhileBusy(this.#engine, retryMs, () => {
        // A write beside a replaced file would destroy what other processes have stored in it.
        this.#engine.assertFilesIntact?.();
        return statement();
      });
      this.#engine.assertFilesIntact?.();
      return result;
    } catch (error) {
      if (isPlantStoreError(error)) throw error;
      const cause = new DriverError(error);
      const kind = classifyError(this.#engine, error);
      if (kind === 'defect') throw cause;
      if (kind === 'rejected') throw new PlantRejected(`the storage rejected the plant (${cause.code})`, { cause });
      throw new StorageUnavailable(`the storage is unavailable (${cause.code})`, { cause });
    }
  }

  /** Runs a statement of `add`. */
  async #write<T>(statement: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await withTimeout(this.#timeoutMs, this.#run(statement));
    } catch (error) {
      // The server, the driver and the pool have timeouts of their own, which may be shorter.
      const isSlow = performance.now() - startedAt > this.#timeoutMs / 2;
      if (isPlantStoreError(error, 'STORAGE_UNAVAILABLE') && isSlow)
        throw new StorageTimeout(error.message, { cause: error.cause });
      throw error;
    }
  }

  /** Commits a small write, to check durability. Inserts a plant and rolls it back, to check for free space. */
  async #probeWrites(): Promise<void> {
    const { probeSql, hangingProbesSql } = this.#engine;
    if (hangingProbesSql) {
      const rows = await this.#knex.from(this.#knex.raw(`(${hangingProbesSql}) AS probes`, [probeSql]));
      // Otherwise each retry would leave another hanging probe in the server.
      if (rows.length > 0) throw new StorageUnavailable('an earlier probe hangs in the server');
    }
    await this.#knex.raw(probeSql);
    const transaction = await this.#knex.transaction();
    try {
      // A large name, which does not compress.
      const name = randomBytes(PROBE_NAME_LENGTH / 2).toString('hex');
      const plant = toPlant({ id: `${randomBytes(8).readBigInt64BE()}`, name });
      await this.#engine.insert(transaction, [plant]).catch((error: unknown) => {
        // A constraint or a trigger rejects this row, so writes work, and plants that it accepts can be added.
        if (classifyError(this.#engine, error) !== 'rejected') throw error;
      });
    } finally {
      await transaction.rollback();
    }
  }
}

function exceedsStatement(batch: readonly Plant[]): boolean {
  if (batch.length === 1) return false;
  const text = batch.reduce((sum, { textLength }) => sum + textLength, 0);
  return batch.length > MAX_ROWS || text > MAX_TEXT;
}

function toHolderOutcome(row: PlantRow): Exclude<AddOutcome, { kind: 'added' }> {
  const result = Plant.from(toNewPlant(BigInt(row.id), row));
  if (result.kind === 'valid') return { kind: 'taken', holder: result.plant };
  const messages = result.violations.map(({ message }) => message).join('; ');
  return { kind: 'rejected', error: new PlantRejected(`a stored row is not a valid plant: ${messages}`) };
}

/** @throws {StorageUnavailable} Another program wrote a row that is not a valid plant. */
function toPlant(row: PlantRow): Plant {
  const outcome = toHolderOutcome(row);
  if (outcome.kind === 'taken') return outcome.holder;
  throw new StorageUnavailable(outcome.error.message);
}

/** Returns SQL for the last id of the page that starts at the id bound to its `?`. */
function lastIdOfPage(textToIdSql: string): string {
  // Reads sizes only, not texts. If all rows fit, a plain SUM shows this in a quarter of the time of a running sum.
  return `WITH sized AS (
      SELECT id, ${TEXT_FIELDS.map((field) => `COALESCE(OCTET_LENGTH(${field}), 0)`).join(' + ')} AS bytes
      FROM plants WHERE id >= ${textToIdSql} ORDER BY id LIMIT ${MAX_ROWS}
    )
    SELECT CASE WHEN SUM(bytes) < ${MAX_TEXT} THEN MAX(id) ELSE (
      SELECT MAX(id) FROM (
        SELECT id, SUM(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM sized
      ) AS page WHERE bytes_before < ${MAX_TEXT}
    ) END FROM sized`;
}
