import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import {
  type AddOutcome,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  Plant,
  PlantRejected,
  type PlantRepository,
  PlantStoreError,
  StorageUnavailable,
} from '../../core/index.js';
import { classifyError, DriverError, retryWhileBusy } from './driver-error.js';
import type { Engine } from './engine.js';
import { lastIdOfPage, type PlantRow, selectHolders } from './rows.js';

const ADDED: AddOutcome = { kind: 'added' };
/** Pause between probes while writes hang, in milliseconds. */
const PROBE_PAUSE_MS = 1000;
/** Longer than most names, but stays in the row: on a full disk, MariaDB 10.11 crashed when it stored one off-page. */
const PROBE_NAME_LENGTH = 4000;
/** Maximum number of rows per statement. */
const MAX_STATEMENT_ROWS = 4000;
/** Maximum text per statement, in UTF-16 code units; a single plant may exceed it. */
const MAX_STATEMENT_TEXT = 1024 * 1024;

/** Stores plants in the table `plants` of a SQL database. */
export class KnexPlantRepository implements PlantRepository {
  readonly #knex: Knex;
  readonly #engine: Engine;
  readonly #timeoutMs: number;
  readonly #pendingCalls = new Set<Promise<unknown>>();
  /** `failing` after a failed write, `hanging` after a timeout (writes then fail at once), until a probe succeeds. */
  #writes: 'working' | 'failing' | 'hanging' = 'working';
  #pendingProbe: Promise<void> | undefined;
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
    return this.#whileOpen(() => this.#add(plants));
  }

  async #add(given: readonly Plant[]): Promise<AddOutcome[]> {
    // A copy, because the caller may change its array meanwhile.
    const plants = [...given];
    Plant.assertAll(plants);
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
      if (!exceedsStatement(batch)) return await this.#addWithOneStatement(batch, notAdded);
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

  async #addWithOneStatement(batch: readonly Plant[], notAdded: Map<bigint, AddOutcome>): Promise<void> {
    const taken = await this.#write(() => this.#engine.insert(this.#knex, batch));
    if (taken.length === 0) return;
    const holders = await this.#write(() => selectHolders(this.#knex, this.#engine, taken));
    if (holders.length < taken.length)
      throw new StorageUnavailable('plants disappeared from the storage during a read');
    for (const row of holders) notAdded.set(BigInt(row.id), toHolderOutcome(row));
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    const { select, selectPage = select, textToId } = this.#engine;
    const condition = `id BETWEEN ${textToId} AND (${lastIdOfPage(textToId)})`;
    const read = (from: bigint) =>
      this.#whileOpen(() => this.#run(() => selectPage(this.#knex, condition, [`${from}`, `${from}`])));
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
    await this.#whileOpen(async () => {
      this.#assertNotHanging();
      if (this.#writes === 'failing') await this.#probe();
      await this.#run(async () => this.#knex('plants').select('id').limit(1));
    });
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#pendingCalls).then(async () => {
      const destroyed = this.#knex.destroy();
      // A hanging probe keeps its connection, so `destroy` would not finish.
      if (!this.#pendingProbe) await destroyed;
    });
    return this.#closing;
  }

  /** Throws after `close`, and lets `close` wait for calls in flight. */
  async #whileOpen<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = start();
    this.#pendingCalls.add(call);
    try {
      return await call;
    } finally {
      this.#pendingCalls.delete(call);
    }
  }

  /** Runs a statement, retries it while the engine is busy, and translates errors of the driver. */
  async #run<T>(statement: () => Promise<T>): Promise<T> {
    try {
      const result = await retryWhileBusy(this.#engine, this.#timeoutMs, statement);
      this.#engine.assertNotReplaced?.();
      return result;
    } catch (error) {
      if (error instanceof PlantStoreError) throw error;
      const cause = new DriverError(error);
      const kind = classifyError(this.#engine, error);
      if (kind === 'defect') throw cause;
      if (kind === 'rejected') throw new PlantRejected(`the storage rejected the plant (${cause.code})`, { cause });
      throw new StorageUnavailable(`the storage is unavailable (${cause.code})`, { cause });
    }
  }

  /** Runs a statement of `add`. After a timeout, fails further calls immediately until a probe succeeds. */
  async #write<T>(statement: () => Promise<T>): Promise<T> {
    this.#assertNotHanging();
    const canHang = this.#engine.hangingProbes !== undefined;
    const startedAt = performance.now();
    try {
      return await (canHang ? this.#withTimeout(this.#run(statement)) : this.#run(statement));
    } catch (error) {
      if (error instanceof StorageUnavailable) {
        // The server's or the pool's own timeout may fire first.
        if (canHang && performance.now() - startedAt > this.#timeoutMs / 2) this.#probeUntilBack();
        else if (this.#writes === 'working') this.#writes = 'failing';
      }
      throw error;
    }
  }

  #withTimeout<T>(write: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new StorageUnavailable('the write timed out')), this.#timeoutMs);
      write.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  #assertNotHanging(): void {
    if (this.#writes === 'hanging')
      throw new StorageUnavailable('an earlier write timed out, and no write has succeeded since');
  }

  async #probeUntilBack(): Promise<void> {
    if (this.#writes === 'hanging') return;
    this.#writes = 'hanging';
    while (this.#writes === 'hanging' && !this.#closing) {
      await this.#probe().catch(() => pause(PROBE_PAUSE_MS, undefined, { ref: false }));
    }
  }

  /** Checks whether plants can be added. Concurrent calls share one probe. */
  #probe(): Promise<void> {
    this.#pendingProbe ??= this.#run(() => this.#probeWrites())
      .catch((error: unknown) => {
        // Any other error, such as a rejected probe, shows that writes do not hang.
        if (error instanceof StorageUnavailable) throw error;
      })
      .then(() => {
        this.#writes = 'working';
      })
      .finally(() => {
        this.#pendingProbe = undefined;
      });
    return this.#pendingProbe;
  }

  /** Commits a small write, to check durability. Inserts a plant and rolls it back, to check for free space. */
  async #probeWrites(): Promise<void> {
    const { probe, hangingProbes } = this.#engine;
    if (hangingProbes) {
      const rows = await this.#knex.from(this.#knex.raw(`(${hangingProbes}) AS probes`, [probe]));
      // Otherwise each retry would leave another hanging probe in the server.
      if (rows.length > 0) throw new StorageUnavailable('an earlier probe hangs in the server');
    }
    await this.#knex.raw(probe);
    const transaction = await this.#knex.transaction();
    try {
      // A large name, which does not compress.
      const name = randomBytes(PROBE_NAME_LENGTH / 2).toString('hex');
      const plant = toPlant({ id: `${randomBytes(8).readBigInt64BE()}`, name, tag: null });
      await this.#engine.insert(transaction, [plant]);
    } finally {
      await transaction.rollback();
    }
  }
}

function exceedsStatement(batch: readonly Plant[]): boolean {
  if (batch.length === 1) return false;
  const text = batch.reduce((sum, { name, tag }) => sum + name.length + (tag?.length ?? 0), 0);
  return batch.length > MAX_STATEMENT_ROWS || text > MAX_STATEMENT_TEXT;
}

function toHolderOutcome({ id, name, tag }: PlantRow): Exclude<AddOutcome, { kind: 'added' }> {
  const result = Plant.from({ id: BigInt(id), name, tag: tag ?? undefined });
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
