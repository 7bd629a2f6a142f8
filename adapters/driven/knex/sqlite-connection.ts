import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import { StorageUnavailable } from '../../../core/index.js';
import { MissingDriver } from './driver-errors.js';

/** Returns Knex's settings for a SQLite file. Creates a missing file, unless it must exist or is only read. */
export async function toSqliteConfig(
  path: string,
  driver: string,
  mustExist: boolean,
  readOnly = false,
): Promise<Knex.Config> {
  // SQLite's own error names neither the folder nor the reason.
  accessSync(dirname(path), constants.W_OK);
  let filename = path;
  if (!existsSync(path)) {
    if (mustExist) throw new StorageUnavailable('it does not exist');
    // Only read, a missing file is a store without a schema.
    if (readOnly) filename = ':memory:';
    else closeSync(openSync(path, 'a', 0o600));
  }
  return { client: await loadClient(driver), connection: { filename }, useNullAsDefault: true };
}

/** Returns the driver to use: `sqlite3`, unless it cannot be loaded. */
export function chooseDriver(): 'sqlite3' | 'node:sqlite' {
  try {
    createRequire(import.meta.url)('sqlite3');
    return 'sqlite3';
  } catch {
    return 'node:sqlite';
  }
}

async function loadClient(driver: string): Promise<typeof Knex.Client> {
  if (driver === 'sqlite3') return (await import('./sqlite3-client.js')).Sqlite3Client;
  if (isBuiltin(driver)) return (await import('./node-sqlite-client.js')).NodeSqliteClient;
  throw new MissingDriver(
    `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or npm install sqlite3, whose install script npm 12 runs only after npm install-scripts approve sqlite3`,
  );
}
