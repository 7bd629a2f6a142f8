import type { Knex } from 'knex';
import type { PlantRepository } from '../../../core/index.js';
import type { Dialect } from './dialect.js';
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
  return new KnexPlantRepository(transaction, dialect);
}
