import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { callbackify, promisify } from 'node:util';
import { StorageUnavailable } from '../../core/index.js';
import { retryWhileBusy } from './driver-error.js';
import type { Database } from './open.js';
import { APPLICATION_ID, sqlite } from './sqlite.js';
import { snapshotFiles } from './sqlite-files.js';
import { cacheStatements, type SqliteConnection } from './statement-cache.js';

/** Maximum time for SQLite to wait for a lock, in milliseconds. The wait blocks a thread, which delays process exit. */
const BUSY_TIMEOUT_MS = 200;

/** Options of {@link sqliteDatabase}. */
export interface SqliteOptions extends Pick<Database, 'timeoutMs' | 'readOnly'> {
  /** The file. It and its directory are created if missing, accessible to their owner only. */
  readonly path: string;
}

/** Describes a SQLite file for `openRepository`. */
export function sqliteDatabase({ timeoutMs, readOnly = false, ...options }: SqliteOptions): Database {
  const absolutePath = resolve(options.path);
  // SQLite keeps its log beside the file that a symbolic link points to.
  const path = existsSync(absolutePath) ? realpathSync(absolutePath) : absolutePath;
  const mode = readOnly ? readOnlyMode(path) : undefined;
  const isImmutable = mode === 'immutable=1';
  const takeSnapshot = () => snapshotFiles([path, `${path}-wal`], isImmutable);
  let assertUnchanged = takeSnapshot();
  return {
    engine: { ...sqlite, assertNotReplaced: () => assertUnchanged() },
    name: `sqlite:${path}`,
    timeoutMs,
    readOnly,
    file: path,
    config: {
      connection: mode
        ? { filename: `${pathToFileURL(path)}?${mode}`, flags: ['OPEN_URI', 'OPEN_READWRITE'] }
        : { filename: path },
      useNullAsDefault: true,
      pool: {
        min: 1,
        max: 1,
        afterCreate: callbackify(async (connection: SqliteConnection) => {
          cacheStatements(connection);
          await configure(connection, timeoutMs, readOnly);
          // The first read has created the log.
          if (!isImmutable) assertUnchanged = takeSnapshot();
        }),
      },
    },
  };
}

/** Enables the write-ahead log (https://sqlite.org/wal.html) and syncs each commit: plants survive a power cut. */
async function configure(connection: SqliteConnection, timeoutMs: number, readOnly: boolean): Promise<void> {
  const exec = promisify(connection.exec.bind(connection));
  const get = promisify(connection.get.bind(connection));
  await exec(`PRAGMA busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, timeoutMs)};
    PRAGMA synchronous = FULL; PRAGMA query_only = ${readOnly}`);
  const { application_id: id } = await get('PRAGMA application_id');
  if (id !== 0 && id !== APPLICATION_ID) throw new StorageUnavailable('it belongs to another program');
  if (!readOnly) {
    // SQLite does not wait for other processes when it changes the journal mode of a new file.
    const { journal_mode: mode } = await retryWhileBusy(sqlite, timeoutMs, () => get('PRAGMA journal_mode = WAL'));
    if (mode !== 'wal') throw new StorageUnavailable('its file system does not support a write-ahead log');
  }
  await retryWhileBusy(sqlite, timeoutMs, () => exec('SELECT 1 FROM sqlite_schema LIMIT 1'));
}

/**
 * Returns the URI parameter for read-only use (https://sqlite.org/uri.html): `mode=rw` if writing is permitted, so that
 * SQLite removes the log on close. Otherwise SQLite cannot create its lock files: `mode=ro` if there is a log, else
 * `immutable=1`, which needs no lock files but would ignore a log (docs/decisions/0017-read-only.md).
 */
function readOnlyMode(path: string): string {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return 'mode=rw';
  } catch {
    return ['-journal', '-shm', '-wal'].some((suffix) => existsSync(path + suffix)) ? 'mode=ro' : 'immutable=1';
  }
}
