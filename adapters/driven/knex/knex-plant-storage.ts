import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type PlantStorage, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toFailure } from './driver-errors.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import type { SchemaState } from './schema.js';

/** Pause before a retry, in milliseconds. */
const PAUSE_MS = 10;

/** Longer than most names, but stored in the row: MariaDB 10.11 crashes on a full disk when it stores a value off-page. */
const PROBE_NAME_LENGTH = 4000;

/** An open database. */
export interface KnexStorage extends PlantStorage, SchemaState {
  /** A connection pool for {@link joinTransaction}, and for rows of the caller. `close` waits for its transactions. */
  readonly knex: Knex;
  /** The name of the database, without a password. */
  readonly name: string;
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches to write concurrently; measured, see docs/decisions/0003-group-commit.md. */
  readonly maxWrites: number;
  /** Names of settings with which the server acknowledges plants before they are durable, in a sentence. */
  readonly warning: string | undefined;
}

/** What opening a database found, and the pool of its callers. */
export type StorageFacts = Omit<KnexStorage, keyof PlantStorage>;

/** A repository with a connection pool of its own, on which each statement commits by itself. */
export class KnexPlantStorage extends KnexPlantRepository implements KnexStorage {
  /** Another pool, because a connection of the caller may keep a transaction open or have other settings. */
  readonly knex: Knex;
  readonly name: string;
  readonly driver: string;
  readonly maxWrites: number;
  readonly warning: string | undefined;
  readonly schema: KnexStorage['schema'];
  readonly pending: readonly string[];
  readonly #pool: Knex;
  readonly #timeoutMs: number;
  readonly #readOnly: boolean;
  readonly #callsInFlight = new Set<Promise<unknown>>();
  /** Whether a write has to show that plants can be added: at first, and after a call that failed. */
  #mustProbe = true;
  #closing: Promise<void> | undefined;

  /**
   * @param timeoutMs Maximum time to retry a statement while the engine is busy.
   * @param readOnly Whether `ready` checks reads alone.
   */
  constructor(pool: Knex, dialect: Dialect, timeoutMs: number, readOnly: boolean, facts: StorageFacts) {
    super(dialect);
    this.#pool = pool;
    this.#timeoutMs = timeoutMs;
    this.#readOnly = readOnly;
    this.knex = facts.knex;
    this.name = facts.name;
    this.driver = facts.driver;
    this.maxWrites = facts.maxWrites;
    this.warning = facts.warning;
    this.schema = facts.schema;
    this.pending = facts.pending;
  }

  ready(): Promise<void> {
    return this.call(async () => {
      await this.#pool('plants').select(this.#pool.raw('1')).limit(1);
      if (!this.#mustProbe || this.#readOnly) return;
      // Cleared first, because a call may fail meanwhile.
      this.#mustProbe = false;
      await this.run(() => this.#tryInsert());
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#destroy();
    return this.#closing;
  }

  async #destroy(): Promise<void> {
    await Promise.allSettled(this.#callsInFlight);
    await this.knex.destroy();
    // Not at the same time: SQLite removes the write-ahead log when the last connection closes.
    await this.#pool.destroy();
  }

  /** Throws after `close`, and lets `close` wait for the call. */
  protected override async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = work();
    this.#callsInFlight.add(call);
    try {
      return await call;
    } catch (error) {
      this.#mustProbe = true;
      throw toFailure(error);
    } finally {
      this.#callsInFlight.delete(call);
    }
  }

  protected override run<T>(statement: (knex: Knex) => Promise<T>): Promise<T> {
    return retryWhileBusy(this.dialect, this.#timeoutMs, () => statement(this.#pool));
  }

  /**
   * Commits a write, then checks privileges and free space with an insert that the engine undoes, because its second
   * row violates constraints. In a transaction, a ROLLBACK that fails would leave the transaction open in the pool.
   */
  async #tryInsert(): Promise<void> {
    const { syncWrite, textToId, undoesFailedInserts = 'true' } = this.dialect;
    await this.#pool.raw(syncWrite);
    // A large name, which does not compress.
    const name = randomBytes(PROBE_NAME_LENGTH / 2).toString('hex');
    const id = `${randomBytes(8).readBigInt64BE()}`;
    const insert = `INSERT INTO plants (id, name, tag)
      SELECT ${textToId}, name, NULL FROM (SELECT ? AS name UNION ALL SELECT NULL) AS names WHERE ${undoesFailedInserts}`;
    try {
      await this.#pool.raw(insert, [id, name]);
    } catch (error) {
      // A trigger may reject the first row; plants that it accepts can be added.
      if (this.dialect.classify(error) !== 'rejected') throw error;
    }
  }
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(dialect: Dialect, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (dialect.classify(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(PAUSE_MS);
    }
  }
}
