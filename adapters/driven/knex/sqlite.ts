import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { StorageUnavailable } from '../../../core/index.js';
import { type Engine, exclude, insertJsonRows, toCode, toRow } from './engine.js';
import type { Database, DatabaseOptions } from './open.js';

// https://sqlite.org/rescode.html
const [SQLITE_BUSY, SQLITE_PROTOCOL, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH] = [5, 15, 18, 19, 20];

/** Why there is no driver, and what to do. */
const NO_DRIVER = `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or npm install sqlite3, whose install script npm 12 runs only after npm install-scripts approve sqlite3`;

/** A small write, whose commit waits for a sync. Sets "PLNT", for programs such as file(1). */
const SET_APPLICATION_ID = `PRAGMA application_id = ${0x504c4e54}`;

const INSERT = insertJsonRows('INTEGER', 'json_each(?)');

/** SQLite. Ids are bound as decimal text: `sqlite3` binds a bigint as NULL and a large number as a double. */
export const sqlite: Engine = {
  driver: 'sqlite3',
  textToId: 'CAST(? AS INTEGER)',
  idToText: 'CAST(id AS TEXT)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'],
  },
  // A transaction that reads before it writes fails with SQLITE_BUSY_SNAPSHOT. Its commit also syncs what a killed
  // process left in the write-ahead log.
  migrationLock: SET_APPLICATION_ID,
  commit: SET_APPLICATION_ID,

  classify(error) {
    const code = toResultCode(error);
    if (code === SQLITE_BUSY || code === SQLITE_PROTOCOL) return 'busy';
    return [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH].includes(code) ? 'rejected' : 'unavailable';
  },

  // After the migrations, so that the schema is in the file itself, and not in the write-ahead log.
  async prepare(knex) {
    await knex.raw('PRAGMA journal_mode = WAL');
  },

  async insert(knex, plants) {
    const rows = JSON.stringify(plants.map(toRow));
    try {
      await knex.raw(INSERT, [rows]);
      return [];
    } catch (error) {
      if (toResultCode(error) !== SQLITE_CONSTRAINT) throw error;
    }
    // At least one id is in use. RETURNING costs 12 % of the rate, so only this second statement uses it.
    const returning = `${INSERT} WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    return exclude(plants, await knex.raw(returning, [rows]));
  },
};

/** Returns SQLite's primary result code: the low byte of the extended one that `node:sqlite` reports. */
function toResultCode(error: unknown): number {
  const { errno, errcode } = Object(error);
  return errno ?? errcode & 0xff;
}

/** Options of {@link sqliteDatabase}. */
export interface SqliteOptions extends DatabaseOptions {
  /** The file. Created if missing, accessible to its owner only; its folder must exist. */
  readonly path: string;
  /** Whether opening fails instead of creating a missing file. @default false */
  readonly mustExist?: boolean | undefined;
}

/** Describes a SQLite file for `openRepository`. Uses `sqlite3` if it can be loaded, otherwise `node:sqlite`. */
export function sqliteDatabase({ path, mustExist = false, ...options }: SqliteOptions): Database {
  const file = resolve(path);
  const hasSqlite3 = canLoadSqlite3();
  return {
    ...options,
    engine: { ...sqlite, driver: hasSqlite3 ? 'sqlite3' : 'node:sqlite' },
    name: `sqlite:${file}`,
    configure: async () => {
      if (!hasSqlite3 && !isBuiltin('node:sqlite')) throw new StorageUnavailable(NO_DRIVER);
      prepareFile(file, mustExist, options.readOnly);
      // Opened for reading, a missing file is a store without a schema.
      const connection = { filename: existsSync(file) ? file : ':memory:' };
      const client = hasSqlite3 ? 'sqlite3' : (await import('./node-sqlite.js')).NodeSqliteClient;
      return { client, connection, useNullAsDefault: true };
    },
  };
}

function canLoadSqlite3(): boolean {
  try {
    createRequire(import.meta.url)('sqlite3');
    return true;
  } catch {
    return false;
  }
}

/** Creates a missing file, unless it must exist or is only read. SQLite's own error does not name the folder. */
function prepareFile(file: string, mustExist: boolean, readOnly = false): void {
  const folder = dirname(file);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new StorageUnavailable(`the folder ${folder} is missing or not writable (${toCode(error)})`);
  }
  if (existsSync(file)) return;
  if (mustExist) throw new StorageUnavailable('it does not exist');
  if (!readOnly) closeSync(openSync(file, 'a', 0o600));
}
