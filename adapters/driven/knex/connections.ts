import type { Knex, knex } from 'knex';
import type { Dialect } from './dialect.js';

/**
 * A pool of connections. After a statement that failed because the database is unavailable, no older connection is used
 * again, because a session keeps the privileges and settings with which it began.
 */
export class Connections {
  readonly knex: Knex;
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
    // Unlike an attempt to connect that fails, which must not end the connections that work.
    this.knex.on('query-error', (error, { sql }) => {
      // After a COMMIT that fails, the transaction may stay open.
      if (sql === 'COMMIT;' || dialect.classify(error) === 'unavailable') this.renew();
    });
  }

  /** Lets later statements use only new connections. */
  renew(): void {
    this.#renewals++;
  }

  /** Keeps the connections that are open, whatever fails later. */
  keep(): void {
    this.#isKept = true;
  }
}
