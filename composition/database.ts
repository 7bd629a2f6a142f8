import { type Database, mysqlDatabase, postgresDatabase, sqliteDatabase } from '../adapters/knex/index.js';
import type { Config } from './config.js';

/** Returns the configured SQL database, or `undefined` for `memory:`. Opens nothing. */
export function createDatabase(
  { database, storageTimeoutMs: timeoutMs }: Config,
  options: Pick<Database, 'readOnly' | 'warn'>,
): Database | undefined {
  if (database.kind === 'memory') return undefined;
  if (database.kind === 'sqlite') return sqliteDatabase({ path: database.path, timeoutMs, readOnly: options.readOnly });
  const describe = { mysql: mysqlDatabase, postgres: postgresDatabase }[database.kind];
  return describe({ url: database.url, timeoutMs, ...options });
}
