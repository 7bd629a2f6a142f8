import { type PlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toStorageUnavailable } from './driver-errors.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { sqlite } from './sqlite.js';

/** The dialects, by Knex's drivers. */
const dialects: Readonly<Record<string, Dialect>> = { sqlite3: sqlite, pg: postgres, mysql2: mysql };

/** The queues of the transactions. Savepoints use that of their transaction. */
const queues = new WeakMap<Knex.Transaction, CallQueue>();

/**
 * Returns a repository whose plants belong to the caller's transaction, in a database that a storage has migrated.
 *
 * - An outcome holds if the caller commits. Until then, no plant is durable.
 * - After `StorageUnavailable`, roll back the whole transaction, because the engine may have undone other statements.
 *   Further calls are rejected. The `cause` has the driver's codes. Nothing is retried, so after a deadlock, run the
 *   transaction again; on PostgreSQL above the level read committed, also after the code 23505.
 * - A plant that the engine rejects leaves the rest of the transaction as it is.
 * - `find` and `read` see what the transaction sees: its own plants, and on MySQL, MariaDB and SQLite no plant that others
 *   have committed after its first read.
 * - Await each `add` before the next statement of the transaction, because that statement may be undone with a rejected
 *   plant (PostgreSQL), or commit by itself after a deadlock (MySQL, MariaDB) or a ROLLBACK (SQLite).
 *
 * @throws {TypeError} `transaction` is not a transaction, or its driver is not `sqlite3`, `pg` or `mysql2`.
 */
export function joinTransaction(transaction: Knex.Transaction): PlantRepository {
  if (!transaction.isTransaction) throw new TypeError('joinTransaction needs a Knex transaction');
  const { driverName } = transaction.client;
  const dialect = dialects[driverName];
  if (!dialect) throw new TypeError(`joinTransaction needs Knex with sqlite3, pg or mysql2, not ${driverName}`);
  let root = transaction;
  while (root.parentTransaction) root = root.parentTransaction;
  const queue = queues.get(root) ?? new CallQueue();
  queues.set(root, queue);
  return new KnexPlantRepository(transaction, dialect, {
    call: (work) => queue.add(transaction, work),
    execute: (statement) => execute(transaction, dialect, statement),
  });
}

/** Executes a statement which, if it fails, undoes nothing else. */
async function execute(
  transaction: Knex.Transaction,
  dialect: Dialect,
  { sql, bindings }: Knex.SqlNative,
): Promise<void> {
  if (!dialect.abortsTransactions) return transaction.raw(sql, bindings);
  // Knex's own savepoints wait for each other.
  await transaction.raw('SAVEPOINT plants');
  try {
    await transaction.raw(sql, bindings);
  } catch (error) {
    await transaction.raw('ROLLBACK TO SAVEPOINT plants');
    throw error;
  } finally {
    await transaction.raw('RELEASE SAVEPOINT plants');
  }
}

/** Makes one call after the other, because after a failure, the engine may commit each statement by itself. */
class CallQueue {
  #last: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  add<T>(transaction: Knex.Transaction, work: () => Promise<T>): Promise<T> {
    const call = this.#last.then(() => {
      if (transaction.isCompleted()) throw new StorageUnavailable('the transaction has ended');
      if (this.#hasFailed) throw new StorageUnavailable('an earlier call failed; roll back the transaction');
      return work().catch((error) => {
        this.#hasFailed = true;
        throw toStorageUnavailable(error);
      });
    });
    this.#last = call.catch(() => {});
    return call;
  }
}
