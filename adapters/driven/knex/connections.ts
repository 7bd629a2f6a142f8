import { StorageUnavailable } from '@plant-store/core';
import type { Knex, knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toStorageUnavailable } from './driver-errors.js';

/** What makes the calls of a repository, perhaps later, and converts their failures, and executes its inserts. */
export type Caller = Pick<Connections, 'call' | 'execute'>;

/**
 * A pool of connections. After a statement that failed because the database is unavailable, no older connection is used
 * again, because a session keeps the privileges and settings with which it began.
 */
export class Connections {
  readonly knex: Knex;
  readonly #dialect: Dialect;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  /** Number of times that the connections were renewed. */
  #generation = 0;
  readonly #generations = new WeakMap<object, number>();
  /** The connection of the last statement of {@link execute}, for the next one in the same turn of the event loop. */
  #kept: object | undefined;

  constructor(createKnex: typeof knex, config: Knex.Config, dialect: Dialect) {
    this.#dialect = dialect;
    this.knex = createKnex({
      // Keep a statement's values out of the log and of error messages.
      compileSqlOnError: false,
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
      ...config,
      pool: { ...config.pool, validate: this.#isCurrent },
    });
    // An attempt to connect that fails is no query error, so the connections that work stay.
    this.knex.on('query-error', (error, { sql }) => {
      // After a COMMIT that fails, the transaction may stay open.
      if (sql === 'COMMIT;' || dialect.classify(error) === 'unavailable') this.#generation++;
    });
  }

  readonly #isCurrent = (connection: object): boolean => {
    if (!this.#generations.has(connection)) this.#generations.set(connection, this.#generation);
    return this.#generations.get(connection) === this.#generation;
  };

  /** Makes a call, and converts its failure. @throws {StorageUnavailable} It failed, or {@link close} was called. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      // If SQLite could not release a lock, its connection is busy until it is closed.
      if (this.#dialect.classify(error) === 'busy') this.#generation++;
      throw toStorageUnavailable(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  /**
   * Executes a statement that returns nothing. A Knex query, and the pool between two batches, would take a sixth of the
   * time of a small write. Knex emits `query` and `query-error` as usual.
   */
  async execute({ sql, bindings }: Knex.SqlNative): Promise<void> {
    const { client } = this.knex;
    const connection = this.#kept ?? (await client.acquireConnection());
    this.#kept = undefined;
    try {
      await client.query(connection, { sql, bindings });
    } finally {
      this.#release();
      this.#kept = connection;
      if (this.#isCurrent(connection) && client.pool.numPendingAcquires() === 0) setImmediate(() => this.#release());
      else this.#release();
    }
  }

  #release(): void {
    if (this.#kept) this.knex.client.releaseConnection(this.#kept);
    this.#kept = undefined;
  }

  /** Waits for calls in flight, closes those of the caller, then these. Idempotent. */
  close(callers: Connections): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#calls)
      .then(() => callers.knex.destroy())
      // The pools close one after the other, because SQLite removes its log when the last connection closes.
      .then(() => this.knex.destroy());
    return this.#closing;
  }
}
