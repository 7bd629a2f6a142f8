import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import { MissingDriver, toCodes } from './driver-errors.js';

const require = createRequire(import.meta.url);

/** Returns Knex's settings for a SQLite file. Creates a missing file, unless it must exist or is only read. */
export async function configureSqlite(path: string, driver: string, mustExist: boolean, readOnly = false) {
  // SQLite's own errors do not name the folder.
  assertAccess('folder', dirname(path), constants.W_OK);
  let filename = path;
  if (!existsSync(path)) {
    if (mustExist) throw new StorageUnavailable('it does not exist');
    // When only read, a missing file is a store without a schema.
    if (readOnly) filename = ':memory:';
    else closeSync(openSync(path, 'a', 0o600));
  } else if (!statSync(path).isFile()) throw new StorageUnavailable('it is a folder or a device, not a file');
  else if (isMountPoint(path))
    throw new StorageUnavailable('the file itself is mounted, so the newest plants would be lost; mount the folder');
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    if (existsSync(file)) assertAccess('file', file, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  return { client: await loadClient(driver), connection: { filename }, useNullAsDefault: true };
}

function assertAccess(kind: 'file' | 'folder', path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    const { code } = toCodes(error);
    const problem = code === 'ENOENT' ? 'missing' : `not ${mode & constants.W_OK ? 'writable' : 'readable'} (${code})`;
    throw new StorageUnavailable(`the ${kind} ${path} is ${problem}`, { cause: { code } });
  }
}

/** Returns whether the file is mounted alone. The files with its newest plants are then elsewhere (proc(5), mountinfo). */
function isMountPoint(path: string): boolean {
  const mounts = '/proc/self/mountinfo';
  if (!existsSync(mounts)) return false;
  const toOctal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  const escaped = realpathSync(path).replaceAll(/[\s\\]/g, toOctal);
  return readFileSync(mounts, 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === escaped);
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
      `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or install sqlite3 and let its install script run, which pnpm and Yarn do only if you allow it`,
    );
  const { driver } = await (name === 'sqlite3' ? import('./sqlite3-driver.js') : import('./node-sqlite-driver.js'));
  const Client: typeof Knex.Client = require('knex/lib/dialects/sqlite3');
  return class extends Client {
    _driver() {
      return driver;
    }
  };
}
