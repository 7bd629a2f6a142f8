import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, resolve } from 'node:path';
import { StorageUnavailable } from '../../../core/index.js';
import { classifyError, retryWhileBusy } from './driver-error.js';
import { nodeSqlite } from './node-sqlite.js';
import type { Database } from './open.js';
import { APPLICATION_ID, sqlite } from './sqlite.js';
import type { FileMode, SqliteConnection, SqliteDriver } from './sqlite-driver.js';
import {
  describeDenied,
  type FileWatch,
  isWritable,
  resolveFile,
  sizeOf,
  walFiles,
  watchContent,
  watchFiles,
} from './sqlite-files.js';
import { sqlite3Driver } from './sqlite3.js';

/** Maximum time for SQLite to wait for a lock, in milliseconds. The wait blocks a thread, which delays process exit. */
const BUSY_TIMEOUT_MS = 200;

/** Codes of errors for which the permissions of a file or directory may be the reason. */
const DENIED = /^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY)$/;

/** Why there is no driver, and what to do. */
const NO_DRIVER = `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or npm install sqlite3, whose install script npm 12 runs only after npm install-scripts approve sqlite3`;

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
      assertFilesIntact: (maxAgeMs) => watch?.assertIntact(maxAgeMs),
      async checkpoint(...args) {
        await sqlite.checkpoint?.(...args);
        // The log is empty now.
        watch?.assertIntact(0);
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
        return sizeOf(file);
      },
      get logSizeBytes() {
        return sizeOf(walFiles(file)[0]);
      },
    },
    async configure() {
      file = resolveFile(givenPath, readOnly ? 'read' : mustExist ? 'write' : 'create');
      const mode = readOnly ? readOnlyMode(file) : 'rw';
      const open = () => driver.open(file, mode);
      const names = givenPath === file ? [file] : [givenPath, file];
      if (mode === 'immutable') watch = watchContent([...names, ...walFiles(file)]);
      if (mode === 'rw') await assertFilesComplete(file, timeoutMs, open);
      const connection = await open();
      try {
        await retryWhileBusy(sqlite, timeoutMs, () => configure(connection, timeoutMs, readOnly));
      } catch (error) {
        await connection.close();
        throw error;
      }
      if (mode !== 'immutable') {
        const copyLog = () => connection.exec('PRAGMA wal_checkpoint').catch(() => {});
        renewWatch = () => {
          watch = watchFiles(names, walFiles(file), copyLog);
        };
        // The first read has created the log.
        renewWatch();
      }
      const close = () => (watch?.canCopyLog() === false ? connection.leaveOpen() : connection.close());
      const { sqliteClient } = await import('./sqlite-client.js');
      return {
        client: sqliteClient(connection, close),
        connection: { filename: file },
        useNullAsDefault: true,
        pool: { min: 1, max: 1 },
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
  const assertAlone = async () => {
    // While other instances start or stop, the files appear or the lock becomes free.
    if (findMissing() === undefined) return;
    const connection = await open();
    try {
      // Reading with this mode takes a lock that no other process may share, and uses no index.
      await connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA locking_mode = EXCLUSIVE;
        SELECT 1 FROM sqlite_schema LIMIT 1`);
    } finally {
      await connection.close();
    }
  };
  try {
    await retryWhileBusy(sqlite, timeoutMs, assertAlone);
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
  await connection.exec('SELECT 1 FROM sqlite_schema LIMIT 1');
}

/**
 * Returns how to open a file for reading: for writing if that is permitted, so that SQLite removes the log on close. A log
 * that stays may belong to another user, and keep the service from starting. Otherwise SQLite cannot create its lock
 * files, and `immutable` needs none, but would ignore a log.
 */
function readOnlyMode(path: string): FileMode {
  if (isWritable(path)) return 'rw';
  return [`${path}-journal`, ...walFiles(path)].some((file) => existsSync(file)) ? 'ro' : 'immutable';
}
