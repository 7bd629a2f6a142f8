import type { Knex } from 'knex';
import type { Engine } from './engine.js';

interface Migration {
  readonly name: string;
  up(knex: Knex): Promise<void>;
}

function migrationsFor(engine: Engine): readonly Migration[] {
  return [{ name: '001_plants', up: (knex) => engine.createTable(knex) }];
}

/**
 * Brings the schema up to date. All of it happens in one transaction under the engine's own lock: instances that start
 * together wait for one another, and one that is killed in the middle leaves nothing behind, no lock either.
 */
export async function migrate(knex: Knex, engine: Engine): Promise<void> {
  // An error that ends a transaction is followed by those of the attempts to end it again; the first one says why.
  let first: unknown;
  const remember = (error: unknown) => {
    first ??= error;
  };
  knex.on('query-error', remember);
  try {
    await knex.transaction(async (transaction) => {
      await engine.lockMigrations(transaction);
      await transaction.migrate.latest({
        tableName: 'plant_store_migrations',
        migrationSource: {
          getMigrations: async () => [...migrationsFor(engine)],
          getMigrationName: ({ name }: Migration) => name,
          getMigration: async ({ up }: Migration) => ({ up, down: refuseDown }),
        },
      });
    });
  } catch (error) {
    throw first ?? error;
  } finally {
    knex.off('query-error', remember);
  }
}

/** Knex asks for a way down; there is none, because it would lose plants. */
async function refuseDown(): Promise<never> {
  throw new Error('a store of plants is not migrated down');
}
