import { StorageUnavailable } from '@plant-store/core';
import type { Knex, knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toStorageUnavailable } from './driver-errors.js';

/**
 * A pool of connections. After a statement that failed because the database is unavailable, no older connection is used
 * again, because a session keeps the privileges and settings with which it began.
 */
export class Connections {
  readonly knex: Knex;
  readonly #dialect: Dialect;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  #renewals = 0;
  #isKept = false;

  constructor(createKnex: typeof knex, config: Knex.Config, dialect: Dialect) {
    /** How often the pool had been renewed when each connection was first used. */
    const renewalsBefore = new WeakMap<object, number>();
    const validate = (connection: object) => {
      if (!renewalsBefore.has(connection)) renewalsBefore.set(connection, this.#renewals);
      return this.#isKept || renewalsBefore.get(connection) === this.#renewals;
    };
    this.knex = createKnex({
      // Keep a statement's values out of the log and of error messages.
      compileSqlOnError: false,
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
      ...config,
      pool: { ...config.pool, validate },
    });
    this.#dialect = dialect;
    // Unlike an attempt to connect that fails, which must not end the connections that work.
    this.knex.on('query-error', (error, { sql }) => {
      // After a COMMIT that fails, the transaction may stay open.
      if (sql === 'COMMIT;' || dialect.classify(error) === 'unavailable') this.renew();
    });
  }

  /** Makes a call, and converts its failure. Fails once {@link close} was called. @throws {StorageUnavailable} */
  readonly call = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.#closing) throw new StorageUnavailable('the repository is closed');
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      // If SQLite could not release a lock, its connection is busy until it is closed.
      if (this.#dialect.classify(error) === 'busy') this.renew();
      throw toStorageUnavailable(error);
    } finally {
      this.#calls.delete(call);
    }
  };

  /** Lets later statements use only new connections. */
  renew(): void {
    this.#renewals++;
  }

  /** Keeps the connections that are open, whatever fails later. */
  keep(): void {
    this.#isKept = true;
  }

  /** Waits for calls in flight, closes `others`, then these. Idempotent. */
  close(others: Connections): Promise<void> {
    this.#closing ??= this.#destroy(others);
    return this.#closing;
  }

  async #destroy(others: Connections): Promise<void> {
    await Promise.allSettled(this.#calls);
    await others.knex.destroy();
    // Not at the same time: SQLite removes the write-ahead log when the last connection closes.
    await this.knex.destroy();
  }
}
