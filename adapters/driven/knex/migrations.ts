import type { Knex } from 'knex';
import { StorageUnavailable } from '../../../core/index.js';
import { classifyError, type Engine } from './engine.js';

/** Whether a schema was created, migrated or already current when it was opened. */
export type SchemaState = 'created' | 'migrated' | 'current';

/** The table of applied migrations, with the columns of Knex's. */
const TABLE = 'plant_store_migrations';

/**
 * Migrates the schema under a database lock, in one transaction (MySQL commits each statement). Instances that start
 * together wait for each other, and a killed one does not block the others. With Knex's migrator, whose lock is a row,
 * the others would fail, and a killed one would leave it set. Throws the errors of {@link readPending}.
 */
export async function migrate(knex: Knex, engine: Engine): Promise<SchemaState> {
  // After a failed statement, rolling back may fail too. The first error has the cause.
  let firstError: unknown;
  const noteError = (error: unknown) => {
    firstError ??= error;
    throw error;
  };
  try {
    return await knex.transaction((transaction) =>
      engine.withMigrationLock(transaction, () => applyPending(transaction, engine).catch(noteError)).catch(noteError),
    );
  } catch (error) {
    throw firstError ?? error;
  }
}

async function applyPending(transaction: Knex.Transaction, engine: Engine): Promise<SchemaState> {
  const pending = await readPending(transaction, engine);
  if (pending.length === 0) return 'current';
  if (!(await transaction.schema.hasTable(TABLE))) {
    await transaction.schema.createTable(TABLE, (table) => {
      table.increments();
      table.string('name');
      table.integer('batch');
      table.timestamp('migration_time');
    });
  }
  for (const name of pending) {
    for (const statement of engine.migrations[name] ?? []) {
      await transaction.raw(statement).catch((error) => {
        if (classifyError(engine, error) !== 'repeated') throw error;
      });
    }
    await transaction(TABLE).insert({ name, batch: 1, migration_time: transaction.fn.now() });
  }
  // Rolls back if another program owns a table.
  await assertTables(transaction, engine);
  return pending.length === Object.keys(engine.migrations).length ? 'created' : 'migrated';
}

/** Returns the names of the pending migrations. Throws StorageUnavailable if the schema is newer than this version. */
export async function readPending(knex: Knex, { migrations }: Engine): Promise<readonly string[]> {
  const known = Object.keys(migrations);
  const done: string[] = (await knex.schema.hasTable(TABLE)) ? await knex(TABLE).pluck('name') : [];
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new StorageUnavailable(`its schema has ${unknown.join(', ')}; start a newer version of plant-store`);
  return known.filter((name) => !done.includes(name));
}

/**
 * Throws StorageUnavailable, with the name of the table, if a table is missing or belongs to another program. Migrations
 * do not notice, because they are recorded in a table of their own, and create no table that exists.
 */
export async function assertTables(knex: Knex, { tables, columnsSql }: Engine): Promise<void> {
  for (const [table, required] of Object.entries(tables)) {
    const readColumns = (): Promise<string[]> =>
      knex.from(knex.raw(`(${columnsSql}) AS described`, [table])).pluck('description');
    let columns = await readColumns();
    // While another Galera node creates the table, the catalogue may lack it; reading the table waits.
    if (columns.length === 0) columns = await knex(table).limit(1).then(readColumns, readColumns);
    if (columns.length === 0)
      throw new StorageUnavailable(
        `the table ${table} is missing or hidden from this user; restore it or grant access`,
      );
    const missing = required.filter((column) => !columns.includes(column));
    if (missing.length > 0)
      throw new StorageUnavailable(
        `the table ${table} lacks columns: ${missing.join(', ')}; restore it, or choose another database`,
      );
  }
}
