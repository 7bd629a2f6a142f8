import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import { MissingDriver, toCode } from './driver-errors.js';

const require = createRequire(import.meta.url);

/** Returns Knex's settings for a SQLite file. Creates a missing file, unless it must exist or is only read. */
export async function configureSqlite(path: string, driver: string, mustExist: boolean, readOnly = false) {
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    // SQLite's own error does not name the folder.
    throw new StorageUnavailable(`the folder ${folder} is missing or not writable (${toCode(error)})`);
  }
  let filename = path;
  if (!existsSync(path)) {
    if (mustExist) throw new StorageUnavailable('it does not exist');
    // When only read, a missing file is a store without a schema.
    if (readOnly) filename = ':memory:';
    else closeSync(openSync(path, 'a', 0o600));
  } else if (!statSync(path).isFile()) throw new StorageUnavailable('it is a folder or a device, not a file');
  return { client: await loadClient(driver), connection: { filename }, useNullAsDefault: true };
}

/** Returns the driver to use: `sqlite3`, unless it cannot be loaded. */
export function chooseDriver(): 'sqlite3' | 'node:sqlite' {
  try {
    require('sqlite3');
    return 'sqlite3';
  } catch {
    return 'node:sqlite';
  }
}

/** Returns Knex's client for `sqlite3` on a driver. */
export async function loadClient(name: string): Promise<typeof Knex.Client> {
  if (name !== 'sqlite3' && !isBuiltin(name))
    throw new MissingDriver(
      `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or install sqlite3 and allow its install script: npm install-scripts approve sqlite3 (npm 12), pnpm approve-builds or, for Yarn, dependenciesMeta in package.json`,
    );
  const { driver } = await (name === 'sqlite3' ? import('./sqlite3-driver.js') : import('./node-sqlite-driver.js'));
  const Client: typeof Knex.Client = require('knex/lib/dialects/sqlite3');
  return class extends Client {
    _driver() {
      return driver;
    }
  };
}
