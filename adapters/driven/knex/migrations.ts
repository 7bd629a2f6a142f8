import type { Knex } from 'knex';
import { StorageUnavailable } from '../../../core/index.js';
import type { Engine } from './engine.js';

/** Whether a schema was created, migrated or already current when it was opened. */
export type SchemaState = 'created' | 'migrated' | 'current';

type Migration = readonly [name: string, statements: readonly string[]];

/** The table of applied migrations. */
const TABLE = 'plant_store_migrations';

/**
 * Migrates the schema under a database lock, in one transaction (MySQL commits each statement). Instances that start
 * together wait for each other, and a killed one does not block the others. Knex's own lock is a row: the others would
 * fail, and a killed one would leave it set. Throws the errors of {@link readPending}.
 */
export async function migrate(knex: Knex, engine: Engine): Promise<SchemaState> {
  const isRepeated = (error: Error) => engine.repeatedMigration?.test(engine.errorKey(error)) === true;
  // After a failed statement, rolling back may fail too. The first error has the cause.
  let firstError: unknown;
  const noteError = (error: Error) => {
    if (!isRepeated(error)) firstError ??= error;
  };
  knex.on('query-error', noteError);
  const ignoreRepeated = (error: Error) => {
    if (!isRepeated(error)) throw error;
  };
  const config: Knex.MigratorConfig = {
    tableName: TABLE,
    migrationSource: {
      getMigrations: async () => Object.entries(engine.migrations),
      getMigrationName: ([name]: Migration) => name,
      getMigration: async ([, statements]: Migration) => ({
        up: async (transaction) => {
          for (const statement of statements) await transaction.raw(statement).catch(ignoreRepeated);
        },
        down: () => Promise.reject(new Error('migrations cannot be reverted')),
      }),
    },
  };
  try {
    return await knex.transaction((transaction) =>
      engine.withMigrationLock(transaction, async () => {
        const pending = await readPending(transaction, engine);
        if (pending.length === 0) return 'current';
        // The engine's lock is held: if Knex's lock is set too, it is a killed process's (or another Galera node's).
        await transaction.migrate.forceFreeMigrationsLock(config);
        await transaction.migrate.latest(config);
        return pending.length === Object.keys(engine.migrations).length ? 'created' : 'migrated';
      }),
    );
  } catch (error) {
    throw firstError ?? error;
  } finally {
    knex.removeListener('query-error', noteError);
  }
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
    if (columns.length === 0) {
      // While another Galera node creates the table, the catalogue may lack it; reading the table waits.
      await knex(table)
        .limit(1)
        .catch(() => {});
      columns = await readColumns();
    }
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

/** Returns the names of the pending migrations. Throws StorageUnavailable if the schema is newer than this version. */
export async function readPending(knex: Knex, { migrations }: Engine): Promise<readonly string[]> {
  const known = Object.keys(migrations);
  const done: string[] = (await knex.schema.hasTable(TABLE)) ? await knex(TABLE).orderBy('id').pluck('name') : [];
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new StorageUnavailable(`its schema has ${unknown.join(', ')}; start a newer version of plant-store`);
  return known.filter((name) => !done.includes(name));
}
