import type { Knex } from 'knex';
import { StorageUnavailable } from '../../core/index.js';
import type { Engine } from './engine.js';

/** The table of applied migrations. */
const TABLE = 'plant_store_migrations';

/**
 * Migrates the schema under a database lock, in one transaction (MySQL commits each statement). Instances that start
 * together wait for each other, and a killed one does not block the others. Throws the errors of {@link readPending}.
 */
export async function migrate(knex: Knex, engine: Engine): Promise<void> {
  // After a failed statement, rolling back may fail too. The first error has the cause.
  let firstError: unknown;
  knex.once('query-error', (error: unknown) => {
    firstError = error;
  });
  const config: Knex.MigratorConfig = {
    tableName: TABLE,
    migrationSource: {
      getMigrations: async () => Object.entries(engine.migrations),
      getMigrationName: ([name]: [string, string]) => name,
      getMigration: async ([, sql]: [string, string]) => ({
        up: (transaction) => transaction.raw(sql),
        down: () => Promise.reject(new Error('migrations cannot be reverted')),
      }),
    },
  };
  try {
    await knex.transaction((transaction) =>
      engine.withMigrationLock(transaction, async () => {
        await readPending(transaction, engine);
        // The engine's lock is held: if Knex's lock is set too, it is a killed process's (or another Galera node's).
        await transaction.migrate.forceFreeMigrationsLock(config);
        await transaction.migrate.latest(config);
      }),
    );
  } catch (error) {
    throw firstError ?? error;
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
