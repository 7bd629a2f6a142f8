import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, resolve } from 'node:path';
import { StorageUnavailable, TEXT_FIELDS } from '../../../core/index.js';
import {
  classifyError,
  type Engine,
  exclude,
  insertJsonRows,
  plantColumns,
  retryWhileBusy,
  toCode,
  toJsonRows,
} from './engine.js';
import { nodeSqlite } from './node-sqlite.js';
import type { Database } from './open.js';
import type { SqliteConnection, SqliteDriver } from './sqlite-driver.js';
import {
  describeDenied,
  type FileWatch,
  readOnlyMode,
  readSize,
  resolveFile,
  walFiles,
  watchContent,
  watchFiles,
} from './sqlite-files.js';
import { sqlite3Driver } from './sqlite3.js';

/** "PLNT". Identifies the file to programs such as file(1) (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x504c4e54;
/** Rewrites the first page of the file, usually without changing it. */
const SET_APPLICATION_ID = `PRAGMA application_id = ${APPLICATION_ID}`;

/** Maximum time for SQLite to wait for a lock, in milliseconds. The wait blocks a thread, which delays process exit. */
const BUSY_TIMEOUT_MS = 200;

/** Codes of errors for which the permissions of a file or directory may be the reason. */
const DENIED = /^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY)$/;

/** Why there is no driver, and what to do. */
const NO_DRIVER = `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or npm install sqlite3, whose install script npm 12 runs only after npm install-scripts approve sqlite3`;

const READ_SCHEMA = 'SELECT 1 FROM sqlite_schema LIMIT 1';
const INSERT = insertJsonRows('INTEGER', 'json_each(?)');

/** SQLite. Ids are bound as decimal text: `sqlite3` binds a bigint as NULL and a large number as a double. */
export const sqlite: Engine = {
  driver: 'sqlite3',
  maxWrites: 1,
  textToIdSql: 'CAST(? AS INTEGER)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'],
  },
  tables: { plants: plantColumns('integer', 'text') },
  columnsSql:
    "SELECT name || ' ' || lower(type) || iif(pk, ' primary key', '') AS description FROM pragma_table_info(?)",
  probeSql: SET_APPLICATION_ID,
  // https://sqlite.org/rescode.html
  errorClasses: [
    [/^SQLITE_(BUSY|PROTOCOL)$/, 'busy'],
    [/^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)$/, 'rejected'],
    // ERROR: a table or column is missing or foreign. The statements themselves never change.
    [
      /^(KnexTimeoutError|SQLITE_(CANTOPEN|CORRUPT|ERROR|FULL|IOERR|LOCKED|NOMEM|NOTADB|PERM|READONLY))$/,
      'unavailable',
    ],
  ],
  openErrorMessages: {
    EACCES: 'permission denied',
    ELOOP: 'its symbolic links form a loop',
    ENOENT: 'its directory does not exist; create it first',
    ENOSPC: 'the disk is full; free some space',
    ENOTDIR: 'a part of the path is a file, not a directory',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only; mount it writable, or use another folder',
    KnexTimeoutError: 'timed out waiting for a lock held by another process; stop that process, or wait for it',
    SQLITE_BUSY: 'timed out waiting for a lock held by another process; stop that process, or wait for it',
    SQLITE_CANTOPEN: 'permission denied for the file or its directory',
    SQLITE_CORRUPT: 'the database is corrupt; restore a backup',
    SQLITE_ERROR: 'it contains tables from another program or a newer version of plant-store',
    SQLITE_FULL: 'the disk is full; free some space',
    SQLITE_IOERR: 'the disk reported an I/O error, or is full; check the system log',
    SQLITE_NOTADB: 'it is not a SQLite database',
    SQLITE_READONLY: 'permission denied: the file or its directory is read-only for this user',
  },

  async insert(knex, plants) {
    const rows = toJsonRows(plants);
    try {
      await knex.raw(INSERT, [rows]);
      return [];
    } catch (error) {
      if (toCode(error) !== 'SQLITE_CONSTRAINT') throw error;
    }
    // At least one id is taken. RETURNING costs as much as the insert itself, so only this second statement uses it.
    // The holder is durable: a commit is visible only after its sync, and startup syncs a killed process's log.
    const returning = `${INSERT} WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    return exclude(plants, await knex.raw(returning, [rows]));
  },

  // One JSON text, because drivers are slow at creating an object per row, and Node 22 cuts a text at U+0000.
  async select(knex, condition, ids) {
    const texts = TEXT_FIELDS.map((field) => `'${field}', ${field}`).join(', ');
    const [{ rows }] = await knex.raw(
      `SELECT json_group_array(json_object('id', CAST(id AS TEXT), ${texts})) AS rows
       FROM (SELECT * FROM plants WHERE ${condition} ORDER BY id)`,
      ids,
    );
    return JSON.parse(rows);
  },

  async withMigrationLock(transaction, work) {
    // Starts with a write, which waits for other writers; a write after a read fails at once with SQLITE_BUSY_SNAPSHOT.
    // Its commit also syncs a log that a killed process left.
    await transaction.raw(SET_APPLICATION_ID);
    return work();
  },

  errorKey: toCode,
};

/** Options of {@link sqliteDatabase}. */
export interface SqliteOptions extends Pick<Database, 'timeoutMs' | 'readOnly'> {
  /** The file. Created if missing, accessible to its owner only; its directory must exist. */
  readonly path: string;
  /** Whether opening fails instead of creating a missing file. */
  readonly mustExist?: boolean | undefined;
}

/** Returns `sqlite3` if it can be loaded, otherwise `node:sqlite` if this version of Node has it. */
export function loadSqliteDriver(): SqliteDriver | undefined {
  try {
    return sqlite3Driver(createRequire(import.meta.url)('sqlite3'));
  } catch {
    return isBuiltin('node:sqlite') ? nodeSqlite : undefined;
  }
}

/** Describes a SQLite file for `openRepository`. */
export function sqliteDatabase({ path, timeoutMs, readOnly = false, mustExist = false }: SqliteOptions): Database {
  const givenPath = resolve(path);
  const name = `sqlite:${givenPath}`;
  const driver = loadSqliteDriver();
  if (driver === undefined) throw new StorageUnavailable(`cannot open ${name}: ${NO_DRIVER}`);
  let file = givenPath;
  let watch: FileWatch | undefined;
  let renewWatch = () => {};
  return {
    engine: {
      ...sqlite,
      driver: driver.name,
      assertFilesIntact: () => watch?.assertIntact(),
      async checkpoint(knex, schema) {
        const isNew = schema !== 'current';
        await retryWhileBusy(sqlite, timeoutMs, async () => {
          // Does not wait for a backup that reads an earlier state, unless the schema itself is new.
          const [{ busy }] = await knex.raw(`PRAGMA wal_checkpoint(${isNew ? 'TRUNCATE' : 'PASSIVE'})`);
          if (busy === 1 && isNew) throw Object.assign(new Error(), { code: 'SQLITE_BUSY' });
        });
        // The log is empty now.
        watch?.assertIntact();
        renewWatch();
      },
    },
    name,
    timeoutMs,
    readOnly,
    describeError: (code) => (DENIED.test(code) ? describeDenied(file, readOnly) : undefined),
    fileToCreate: mustExist ? undefined : givenPath,
    files: {
      get sizeBytes() {
        return readSize(file);
      },
      get logSizeBytes() {
        return readSize(walFiles(file)[0]);
      },
    },
    async configure() {
      // Loads a part of Knex.
      const { sqliteClient } = await import('./sqlite-client.js');
      file = resolveFile(givenPath, readOnly ? 'read' : mustExist ? 'write' : 'create');
      const mode = readOnly ? readOnlyMode(file) : 'rw';
      const open = () => driver.open(file, mode);
      const names = [...new Set([givenPath, file])];
      if (mode === 'immutable') watch = watchContent([...names, ...walFiles(file)]);
      await assertFilesComplete(file, timeoutMs, open);
      const connection = await open();
      await retryWhileBusy(sqlite, timeoutMs, () => configure(connection, timeoutMs, readOnly)).catch(async (error) => {
        await connection.close();
        throw error;
      });
      if (mode !== 'immutable') {
        const copyLog = () => connection.exec('PRAGMA wal_checkpoint').catch(() => {});
        renewWatch = () => {
          watch = watchFiles(names, walFiles(file), copyLog);
        };
        // The first read has created the log.
        renewWatch();
      }
      const close = () => (watch?.canCopyLog?.() === false ? connection.leaveOpen() : connection.close());
      return {
        client: sqliteClient(connection, close),
        connection: { filename: file },
      };
    },
  };
}

/**
 * Throws StorageUnavailable if a process has the database open although its write-ahead log or index is missing: the
 * files that SQLite would create for this process would differ from those of the other one, and plants would be lost.
 */
async function assertFilesComplete(
  path: string,
  timeoutMs: number,
  open: () => Promise<SqliteConnection>,
): Promise<void> {
  const findMissing = () => walFiles(path).find((file) => !existsSync(file));
  try {
    await retryWhileBusy(sqlite, timeoutMs, async () => {
      // While other instances start or stop, the files appear or the lock becomes free.
      if (findMissing() === undefined) return;
      const connection = await open();
      // Reading with this mode takes a lock that no other process may share, and uses no index.
      const read = `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA locking_mode = EXCLUSIVE; ${READ_SCHEMA}`;
      await connection.exec(read).finally(() => connection.close());
    });
  } catch (error) {
    const missing = findMissing();
    if (missing === undefined || classifyError(sqlite, error) !== 'busy') throw error;
    throw new StorageUnavailable(
      `${basename(missing)} is missing, but another process uses the database; stop it first`,
    );
  }
}

/** Enables the write-ahead log (https://sqlite.org/wal.html) and syncs each commit: plants survive a power cut. */
async function configure(connection: SqliteConnection, timeoutMs: number, readOnly: boolean): Promise<void> {
  await connection.exec(`PRAGMA busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, timeoutMs)};
    PRAGMA synchronous = FULL; PRAGMA query_only = ${readOnly}`);
  const [{ application_id: id } = {}] = await connection.all('PRAGMA application_id');
  if (id !== 0 && id !== APPLICATION_ID) throw new StorageUnavailable('it belongs to another program');
  if (!readOnly) {
    // SQLite does not wait for other processes when it changes the journal mode of a new file.
    const [{ journal_mode: mode } = {}] = await connection.all('PRAGMA journal_mode = WAL');
    if (mode !== 'wal') throw new StorageUnavailable('its file system does not support a write-ahead log');
  }
  await connection.exec(READ_SCHEMA);
}
