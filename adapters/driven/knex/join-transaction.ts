import type { Knex } from 'knex';
import { type PlantRepository, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';
import { toFailure } from './driver-errors.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { sqlite } from './sqlite.js';

/** The dialects by the drivers of Knex. */
const dialects = new Map<unknown, Dialect>([
  ['sqlite3', sqlite],
  ['pg', postgres],
  ['mysql2', mysql],
]);

/** The repository of each transaction: one, so that its calls know of each other. */
const repositories = new WeakMap<Knex.Transaction, PlantRepository>();

/**
 * Returns a repository whose plants belong to a transaction of the caller, whose database has the table `plants`.
 *
 * - An outcome holds if the caller commits. Until then, no plant is durable.
 * - After `StorageUnavailable`, roll back: the engine may have undone other statements of the transaction. Further calls
 *   are rejected. The `cause` has the driver's codes. Nothing is retried, so after a deadlock, run the transaction again.
 * - A plant that the engine rejects leaves the rest of the transaction as it is.
 * - Await each `add` before the next statement of the transaction. Otherwise, on PostgreSQL, the statement is undone with
 *   a rejected plant, and on MySQL and MariaDB, it commits by itself after a deadlock.
 *
 * @throws {TypeError} It is not a transaction, or its driver is not `sqlite3`, `pg` or `mysql2`.
 */
export function joinTransaction(transaction: Knex.Transaction): PlantRepository {
  if (!transaction.isTransaction) throw new TypeError('joinTransaction needs a Knex transaction');
  const { driverName } = transaction.client;
  const dialect = dialects.get(driverName);
  if (!dialect) throw new TypeError(`joinTransaction needs Knex with sqlite3, pg or mysql2, not ${driverName}`);
  const repository = repositories.get(transaction) ?? new TransactionPlantRepository(transaction, dialect);
  repositories.set(transaction, repository);
  return repository;
}

class TransactionPlantRepository extends KnexPlantRepository {
  /** The caller uses the connection meanwhile. */
  protected override readonly readsAhead = false;
  readonly #transaction: Knex.Transaction;
  #lastCall: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  constructor(transaction: Knex.Transaction, dialect: Dialect) {
    super(dialect);
    this.#transaction = transaction;
  }

  /** Makes one call after the other, because after a failure, the engine may commit each statement by itself. */
  protected override call<T>(work: () => Promise<T>): Promise<T> {
    const call = this.#lastCall.then(() => this.#callNow(work));
    this.#lastCall = call.catch(() => {});
    return call;
  }

  async #callNow<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.isCompleted()) throw new StorageUnavailable('the transaction has ended');
    if (this.#hasFailed) throw new StorageUnavailable('an earlier call failed; roll back the transaction');
    try {
      return await work();
    } catch (error) {
      this.#hasFailed = true;
      throw toFailure(error);
    }
  }

  protected override run<T>(statement: (knex: Knex) => Promise<T>): Promise<T> {
    return statement(this.#transaction);
  }
}
