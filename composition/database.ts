import { type Database, mysqlDatabase, postgresDatabase, sqliteDatabase } from '../adapters/knex/index.js';
import type { Config } from './config.js';

/** The SQL database of the configuration, if it has one. */
export function databaseOf(
  { database, storageTimeoutMs: timeoutMs }: Config,
  warn?: (warning: string) => void,
): Database | undefined {
  switch (database.kind) {
    case 'memory':
      return undefined;
    case 'sqlite':
      return sqliteDatabase({ path: database.path, timeoutMs });
    case 'postgres':
      return postgresDatabase({ url: database.url, timeoutMs, warn });
    case 'mysql':
      return mysqlDatabase({ url: database.url, timeoutMs, warn });
  }
}
