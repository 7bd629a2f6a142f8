import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import { StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import { MissingDriver, toCodes } from './driver-errors.js';

const require = createRequire(import.meta.url);

/** Returns Knex's settings for a SQLite file. Creates a missing file, unless it must exist or is only read. */
export async function configureSqlite(name: string, driver: string, mustExist: boolean, readOnly = false) {
  // Undefined only if the file is missing. Any other error is thrown, because the file may exist.
  const status = statSync(name, { throwIfNoEntry: false });
  const path = status ? realpathSync(name) : name;
  assertAccess(dirname(path), constants.W_OK);
  if (status) {
    if (!status.isFile()) throw new StorageUnavailable('it is a folder or a device, not a file');
    if (isMountPoint(path))
      throw new StorageUnavailable('the file itself is mounted, so the newest plants would be lost; mount the folder');
    if (status.nlink > 1)
      throw new StorageUnavailable('it has another hard link, whose newest plants are in another log; remove the link');
    for (const mode of readOnly ? [constants.R_OK] : [constants.R_OK, constants.W_OK]) assertAccess(path, mode);
  } else if (mustExist) throw new StorageUnavailable('it does not exist');
  else if (!readOnly) closeSync(openSync(path, 'a', 0o600));
  // When only read, a missing file is a store without a schema.
  const filename = readOnly && !status ? ':memory:' : path;
  const pool = readOnly ? {} : { afterCreate: checkpoint };
  return { client: await loadClient(driver), connection: { filename }, useNullAsDefault: true, pool };
}

/**
 * Copies the write-ahead log to the file. After a sync that failed, the log may be in the page cache only, from which the
 * first connection recovers it. A power cut would lose plants that are added behind it.
 */
function checkpoint(connection: Connection, done: (error: Error | null) => void): void {
  connection.all('PRAGMA wal_checkpoint', [], (error) => {
    if (error === null) return done(null);
    // Knex does not close it.
    connection.close(() => done(error));
  });
}

/** The part of a connection of both drivers that is used here. */
interface Connection {
  all(sql: string, bindings: readonly unknown[], done: (error: Error | null) => void): void;
  close(done: () => void): void;
}

/** SQLite's own errors do not name the file or folder. */
function assertAccess(path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    const cause = toCodes(error);
    const problem = `not ${mode === constants.R_OK ? 'readable' : 'writable'} (${cause.code})`;
    throw new StorageUnavailable(`${path} is ${cause.code === 'ENOENT' ? 'missing' : problem}`, { cause });
  }
}

/** Returns whether the file is mounted alone. Its newest plants are then in a file elsewhere (proc(5), mountinfo). */
function isMountPoint(path: string): boolean {
  const mounts = '/proc/self/mountinfo';
  const lines = existsSync(mounts) ? readFileSync(mounts, 'utf8').split('\n') : [];
  const toOctal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  const escaped = path.replaceAll(/[ \t\n\\]/g, toOctal);
  return lines.some((line) => line.split(' ')[4] === escaped);
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
      `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or install sqlite3 and allow its install script (docs/versions.md)`,
    );
  const { driver } = await (name === 'sqlite3' ? import('./sqlite3-driver.js') : import('./node-sqlite-driver.js'));
  const Client: typeof Knex.Client = require('knex/lib/dialects/sqlite3');
  return class extends Client {
    _driver() {
      return driver;
    }
  };
}
