import { StorageUnavailable } from '@plant-store/core';
import type { Knex, knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toStorageUnavailable } from './driver-errors.js';

/** What makes the calls of a repository, perhaps later, and converts their failures. */
export type Caller = Pick<Connections, 'call'>;

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

  constructor(createKnex: typeof knex, config: Knex.Config, dialect: Dialect) {
    this.#dialect = dialect;
    const generations = new WeakMap<object, number>();
    const validate = (connection: object) => {
      if (!generations.has(connection)) generations.set(connection, this.#generation);
      return generations.get(connection) === this.#generation;
    };
    this.knex = createKnex({
      // Keep a statement's values out of the log and of error messages.
      compileSqlOnError: false,
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
      ...config,
      pool: { ...config.pool, validate },
    });
    // An attempt to connect that fails is no query error, so the connections that work stay.
    this.knex.on('query-error', (error, { sql }) => {
      // After a COMMIT that fails, the transaction may stay open.
      if (sql === 'COMMIT;' || dialect.classify(error) === 'unavailable') this.#generation++;
    });
  }

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

  /** Waits for calls in flight, closes those of the caller, then these. Idempotent. */
  close(callers: Connections): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#calls)
      .then(() => callers.knex.destroy())
      // The pools close one after the other, because SQLite removes its log when the last connection closes.
      .then(() => this.knex.destroy());
    return this.#closing;
  }
}
