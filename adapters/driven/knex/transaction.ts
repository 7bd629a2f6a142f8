import type { Knex } from 'knex';
import { type PlantRepository, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';
import { toFailure } from './failures.js';
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

/**
 * Returns a repository whose plants belong to a transaction of the caller, whose database has the table `plants`.
 *
 * - An outcome holds if the caller commits. Until then, no plant is durable.
 * - After `StorageUnavailable`, roll back: the engine may have undone other statements of the transaction. Its `cause`
 *   has the driver's codes. Nothing is retried, so after a deadlock, run the whole transaction again.
 * - A plant that the engine rejects leaves the rest of the transaction as it is. Await each call before the
 *   transaction's next statement: on PostgreSQL, rejecting the plant undoes statements that run meanwhile.
 *
 * @throws {TypeError} It is not a transaction, or its driver is not `sqlite3`, `pg` or `mysql2`.
 */
export function joinTransaction(transaction: Knex.Transaction): PlantRepository {
  if (!transaction.isTransaction) throw new TypeError('joinTransaction needs a Knex transaction');
  const { driverName } = transaction.client;
  const dialect = dialects.get(driverName);
  if (!dialect) throw new TypeError(`joinTransaction needs Knex with sqlite3, pg or mysql2, not ${driverName}`);
  return new TransactionPlantRepository(transaction, dialect);
}

class TransactionPlantRepository extends KnexPlantRepository {
  readonly #transaction: Knex.Transaction;

  constructor(transaction: Knex.Transaction, dialect: Dialect) {
    super(dialect);
    this.#transaction = transaction;
  }

  protected override async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.isCompleted()) throw new StorageUnavailable('the transaction has ended');
    try {
      return await work();
    } catch (error) {
      throw toFailure(error);
    }
  }

  /** Runs a statement once, because the engine may have rolled back the transaction when it failed. */
  protected override run<T>(statement: (knex: Knex) => Promise<T>): Promise<T> {
    if (!this.dialect.failureAbortsTransaction) return statement(this.#transaction);
    // With a savepoint, which is what Knex makes of a transaction in a transaction.
    return this.#transaction.transaction(statement);
  }
}
