import { type PlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
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

/** What the repositories of a transaction and of its savepoints share. */
interface Calls {
  /** Settles when the last call does. */
  last: Promise<unknown>;
  hasFailed: boolean;
}

const callsOfTransactions = new WeakMap<Knex.Transaction, Calls>();

/**
 * Returns a repository whose plants belong to the caller's transaction, in a database with the table `plants`.
 *
 * - An outcome holds if the caller commits. Until then, no plant is durable.
 * - After `StorageUnavailable`, roll back the whole transaction, because the engine may have undone other statements.
 *   Further calls are rejected. The `cause` has the driver's codes. Nothing is retried, so after a deadlock, run the
 *   transaction again.
 * - A plant that the engine rejects leaves the rest of the transaction as it is.
 * - Await each `add` before the next statement of the transaction. Otherwise, the statement may be undone with a rejected
 *   plant (PostgreSQL), or commit by itself after a deadlock (MySQL, MariaDB) or a ROLLBACK (SQLite).
 *
 * @throws {TypeError} `transaction` is not a transaction, or its driver is not `sqlite3`, `pg` or `mysql2`.
 */
export function joinTransaction(transaction: Knex.Transaction): PlantRepository {
  if (!transaction.isTransaction) throw new TypeError('joinTransaction needs a Knex transaction');
  const { driverName } = transaction.client;
  const dialect = dialects.get(driverName);
  if (!dialect) throw new TypeError(`joinTransaction needs Knex with sqlite3, pg or mysql2, not ${driverName}`);
  const root = toRoot(transaction);
  const calls = callsOfTransactions.get(root) ?? { last: Promise.resolve(), hasFailed: false };
  callsOfTransactions.set(root, calls);
  return new TransactionPlantRepository(transaction, dialect, calls);
}

/** Returns the transaction to which a savepoint belongs. */
function toRoot(transaction: Knex.Transaction): Knex.Transaction {
  return transaction.parentTransaction ? toRoot(transaction.parentTransaction) : transaction;
}

class TransactionPlantRepository extends KnexPlantRepository {
  readonly #transaction: Knex.Transaction;
  readonly #calls: Calls;

  constructor(transaction: Knex.Transaction, dialect: Dialect, calls: Calls) {
    super(dialect);
    this.#transaction = transaction;
    this.#calls = calls;
  }

  /** Makes one call after the other, because after a failure, the engine may commit each statement by itself. */
  protected override call<T>(work: () => Promise<T>): Promise<T> {
    const call = this.#calls.last.then(() => this.#callNow(work));
    this.#calls.last = call.catch(() => {});
    return call;
  }

  async #callNow<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.isCompleted()) throw new StorageUnavailable('the transaction has ended');
    if (this.#calls.hasFailed) throw new StorageUnavailable('an earlier call failed; roll back the transaction');
    try {
      return await work();
    } catch (error) {
      this.#calls.hasFailed = true;
      throw toFailure(error);
    }
  }

  protected override run<T>(statement: (knex: Knex) => Promise<T>): Promise<T> {
    return statement(this.#transaction);
  }
}
