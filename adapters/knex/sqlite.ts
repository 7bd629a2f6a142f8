import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StorageUnavailable } from '../../core/index.js';
import { whileBusy } from './busy.js';
import type { Diagnosis, Engine } from './engine.js';
import { codeOf } from './failure.js';
import type { Database } from './open.js';
import { lastOfPage } from './page.js';
import { keepPrepared, type SqliteConnection } from './prepared.js';

/** "PLNT": tells `file` and other programs whose database this is (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x504c4e54;

/**
 * How long SQLite itself waits for another process, in milliseconds. It blocks a thread that the process cannot end
 * without, so that longer waits are made of several short ones.
 */
const BUSY_TIMEOUT_MS = 200;

/**
 * SQLite. Values travel as JSON in one bound text, so that the statement is the same for one plant and for a thousand.
 * Ids travel as decimal text: the driver binds a bigint as NULL and a large number as a double.
 */
export const sqlite: Engine = {
  driver: 'sqlite3',
  writesMax: 1,
  idToText: 'CAST(id AS TEXT)',
  textToId: 'CAST(? AS INTEGER)',

  async insert(knex, plants) {
    const rows = JSON.stringify(plants.map(({ id, name, tag }) => [`${id}`, name, tag]));
    try {
      await knex.raw(INSERT, [rows]);
      return [];
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_CONSTRAINT') throw error;
    }
    // Asking for the ids that went in costs as much as the insert itself, so it is done only where not all of them can.
    const inserted: { id: string }[] = await knex.raw(
      `${INSERT} WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`,
      [rows],
    );
    const ids = new Set(inserted.map(({ id }) => id));
    return plants.filter(({ id }) => !ids.has(`${id}`));
  },

  // One text a column: the driver takes longer to make an object of a row than SQLite to read it.
  async page(knex, from) {
    const [page] = await knex.raw(
      `SELECT group_concat(CAST(id AS TEXT)) AS ids, json_group_array(name) AS names, json_group_array(tag) AS tags FROM (
         SELECT * FROM plants WHERE id >= CAST(? AS INTEGER) AND id <= (${lastOfPage(sqlite)}) ORDER BY id
       )`,
      [`${from}`, `${from}`],
    );
    if (page.ids === null) return [];
    const ids: string[] = page.ids.split(',');
    const names: string[] = JSON.parse(page.names);
    const tags: (string | null)[] = JSON.parse(page.tags);
    return ids.map((id, index) => ({ id, name: names[index] ?? '', tag: tags[index] ?? null }));
  },

  async underMigrationLock(transaction, work) {
    // The first statement of the transaction has to be a write: SQLite lets it wait for others, but answers
    // SQLITE_BUSY_SNAPSHOT at once to one that read before.
    await transaction.raw(`PRAGMA application_id = ${APPLICATION_ID}`);
    await work();
  },

  async createTable(transaction) {
    await transaction.raw('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT');
  },

  // Every connection is opened with synchronous=FULL, whatever it was before.
  unsyncedSettings: async () => [],

  diagnose: (error) => DIAGNOSES[codeOf(error)] ?? 'defect',

  reasons: {
    EACCES: 'this user has no permission to write there',
    EEXIST: 'a part of its path is a file, not a folder',
    EISDIR: 'it is a folder',
    ENOSPC: 'the disk is full',
    ENOTDIR: 'a part of its path is a file, not a folder',
    ENXIO: 'it is a named pipe or a device, not a file',
    EPERM: 'this user has no permission to write there',
    EROFS: 'the file system is read-only',
    KnexTimeoutError: 'another process kept it locked for too long',
    SQLITE_BUSY: 'another process kept it locked for too long',
    SQLITE_CANTOPEN: 'this user has no permission to open it, or to write in its folder',
    SQLITE_CORRUPT: 'the database is damaged; restore a backup',
    SQLITE_ERROR: 'it has tables of another program, or of a newer version of this one',
    SQLITE_FULL: 'the disk is full',
    SQLITE_IOERR: 'the disk reported an error, or is full',
    SQLITE_NOTADB: 'it is not a SQLite database',
    SQLITE_READONLY: 'it is read-only for this user',
  },
};

const INSERT = `INSERT INTO plants (id, name, tag)
  SELECT CAST(value ->> 0 AS INTEGER), value ->> 1, value ->> 2 FROM json_each(?)`;

/** https://sqlite.org/rescode.html */
const DIAGNOSES: Partial<Record<string, Diagnosis>> = {
  KnexTimeoutError: 'unavailable',
  SQLITE_BUSY: 'busy',
  SQLITE_CANTOPEN: 'unavailable',
  SQLITE_CORRUPT: 'unavailable',
  SQLITE_FULL: 'unavailable',
  SQLITE_IOERR: 'unavailable',
  SQLITE_LOCKED: 'unavailable',
  SQLITE_NOMEM: 'unavailable',
  SQLITE_NOTADB: 'unavailable',
  SQLITE_PERM: 'unavailable',
  SQLITE_PROTOCOL: 'busy',
  SQLITE_READONLY: 'unavailable',
  SQLITE_CONSTRAINT: 'refused',
  SQLITE_MISMATCH: 'refused',
  SQLITE_TOOBIG: 'refused',
};

/** Where the database is, and how long to wait for it. */
export interface SqliteOptions {
  /** The file; it and its folder are created where they are missing, for their owner alone. */
  readonly path: string;
  /** How long a statement waits for its turn, in milliseconds: for other statements here, and for other processes. */
  readonly timeoutMs: number;
}

/** A SQLite file. */
export function sqliteDatabase({ path: given, timeoutMs }: SqliteOptions): Database {
  const path = resolve(given);
  const files = new FilesInPlace([path, `${path}-wal`]);
  return {
    engine: { ...sqlite, assertInPlace: () => files.assert() },
    name: `the SQLite file ${path}`,
    timeoutMs,
    file: { isMissing: () => !existsSync(path), create: () => createFile(path) },
    config: {
      connection: { filename: path },
      useNullAsDefault: true,
      pool: {
        min: 1,
        max: 1,
        afterCreate: (connection: Connection, done: (error: Error | null) => void) => {
          keepPrepared(connection);
          configure(connection, timeoutMs)
            .then(() => files.remember())
            .then(() => done(null), done);
        },
      },
    },
  };
}

/** What of the driver's connection is used here. */
interface Connection extends SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  get(sql: string, done: (error: Error | null, row: { application_id: number; journal_mode: string }) => void): void;
}

/** Write-ahead log with a sync at every commit: an answered plant survives a power cut (https://sqlite.org/wal.html). */
async function configure(connection: Connection, timeoutMs: number): Promise<void> {
  const exec = promisify(connection.exec.bind(connection));
  const get = promisify(connection.get.bind(connection));
  await exec(`PRAGMA busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, timeoutMs)}; PRAGMA synchronous = FULL;`);
  const { application_id: id } = await get('PRAGMA application_id');
  if (id !== 0 && id !== APPLICATION_ID) throw new StorageUnavailable('it belongs to another program');
  // When several processes open a new file, SQLite does not let them wait for one another here.
  const { journal_mode: mode } = await whileBusy(sqlite, timeoutMs, () => get('PRAGMA journal_mode = WAL'));
  if (mode !== 'wal') throw new StorageUnavailable('its file system cannot hold a write-ahead log');
  // The first read makes the file of the log.
  await whileBusy(sqlite, timeoutMs, () => exec('SELECT 1 FROM sqlite_schema LIMIT 1'));
}

/**
 * The files of an open database: they must stay the ones that they were, under their names. SQLite itself looks so where
 * there is no write-ahead log, and refuses to write (https://sqlite.org/rescode.html#readonly_dbmoved).
 */
class FilesInPlace {
  readonly #paths: readonly string[];
  #identities: readonly (string | undefined)[] = [];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  remember(): void {
    this.#identities = this.#paths.map(identityOf);
  }

  /** @throws {StorageUnavailable} where another file, or none, is under a name */
  assert(): void {
    if (this.#paths.every((path, index) => identityOf(path) === this.#identities[index])) return;
    throw new StorageUnavailable('the SQLite file was moved, deleted or replaced; restart the service');
  }
}

/** Device and inode; `undefined` where there is no file, or none that may be looked at. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

function createFile(path: string): void {
  const folder = dirname(path);
  const firstCreated = mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Without O_NONBLOCK the open of a named pipe would wait for its reader.
  closeSync(openSync(path, constants.O_APPEND | constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o600));
  // SQLite syncs the folder of its files; that a new folder is in its parent is left to us.
  if (firstCreated === undefined) return;
  for (let created = folder; ; created = dirname(created)) {
    syncFolder(dirname(created));
    if (created === firstCreated) return;
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
