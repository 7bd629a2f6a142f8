import type { Knex } from 'knex';
import { StorageUnavailable } from '../../../core/index.js';
import { type Engine, selectRows, toReason } from './engine.js';

/** The table of applied migrations. */
const TABLE = 'plant_store_migrations';

/**
 * Applies the pending migrations in one transaction (MySQL commits each statement), and returns their names. Instances
 * that start together wait for each other. With Knex's migrator, whose lock is a row, the others would fail, and a
 * killed one would leave it set.
 * @param knex The caller destroys it, because a COMMIT or ROLLBACK that fails leaves the transaction open.
 */
export async function migrate(knex: Knex, engine: Engine): Promise<readonly string[]> {
  let failure: unknown;
  try {
    return await knex.transaction(async (transaction) => {
      try {
        return await applyPending(transaction, engine);
      } catch (error) {
        failure = error;
        throw error;
      }
    });
  } catch (error) {
    // After some errors, SQLite has rolled back by itself, and Knex reports only that its ROLLBACK failed.
    throw failure ?? error;
  }
}

async function applyPending(transaction: Knex.Transaction, engine: Engine): Promise<readonly string[]> {
  if (engine.migrationLock) await transaction.raw(engine.migrationLock);
  const pending = await readPending(transaction, engine);
  // Only if needed, because the user may lack the privilege.
  if (pending.length > 0) await transaction.raw(`CREATE TABLE IF NOT EXISTS ${TABLE} (name VARCHAR(255) PRIMARY KEY)`);
  for (const name of pending) {
    for (const statement of engine.migrations[name] ?? []) await transaction.raw(statement);
    await transaction(TABLE).insert({ name }).onConflict().ignore();
  }
  await assertTable(transaction, engine);
  return pending;
}

/**
 * Returns the names of the pending migrations.
 * @throws {StorageUnavailable} The schema is newer than this version.
 */
export async function readPending(knex: Knex, { migrations }: Engine): Promise<readonly string[]> {
  const known = Object.keys(migrations);
  const done: string[] = (await knex.schema.hasTable(TABLE)) ? await knex(TABLE).pluck('name') : [];
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new StorageUnavailable(`its schema has ${unknown.join(', ')}; start a newer version of plant-store`);
  return known.filter((name) => !done.includes(name));
}

/** @throws {StorageUnavailable} The table of plants cannot be read, is missing or belongs to another program. */
export async function assertTable(knex: Knex, engine: Engine): Promise<void> {
  try {
    await selectRows(knex, engine, 'false', []);
  } catch (error) {
    if (engine.classify(error) === 'busy') throw error;
    throw new StorageUnavailable(`cannot read the table plants: ${toReason(error)}`);
  }
}
