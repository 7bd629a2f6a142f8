import { openRepository, pendingMigrations } from '../../adapters/knex/index.js';
import type { Config } from '../config.js';
import { databaseOf } from '../database.js';

/** What `plant-store migrate` is given besides the settings. */
export interface MigrateArguments {
  /** Do nothing to the database. */
  readonly dryRun: boolean;
  /** Say it for a program. */
  readonly json: boolean;
}

/** Brings the schema up to date, or says what would be done. Resolves to the exit code of the process. */
export async function migrateSchema(config: Config, { dryRun, json }: MigrateArguments): Promise<number> {
  const database = databaseOf(config);
  const names = database ? await pendingMigrations(database) : [];
  if (database && !dryRun) await (await openRepository(database)).close();
  const result = dryRun ? { applied: [], pending: names } : { applied: names, pending: [] };
  const steps = names.map((name) => `${dryRun ? 'would apply' : 'applied'} ${name}\n`);
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : steps.join('') || 'the schema is up to date\n');
  return 0;
}
