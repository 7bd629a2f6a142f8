import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { StorageUnavailable } from '../../../core/index.js';
import type { FileMode } from './sqlite-driver.js';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Returns the path of a database file without symbolic links, because SQLite keeps its other files beside the target.
 * With the access `create`, creates the file if it is missing, accessible to its owner only.
 */
export function resolveFile(path: string, access: 'read' | 'write' | 'create'): string {
  if (!statSync(path, { throwIfNoEntry: false })) {
    if (access !== 'create') throw new StorageUnavailable('it does not exist');
    // Never opens an existing file: closing it would release all locks that this process has on it (fcntl(2)).
    closeSync(openSync(path, 'a', 0o600));
  }
  const stats = statSync(path);
  if (stats.isDirectory()) throw new StorageUnavailable('it is a directory');
  if (!stats.isFile()) throw new StorageUnavailable('it is a named pipe or a device, not a file');
  // Each name would have a write-ahead log of its own, and programs with different logs destroy the database.
  if (stats.nlink > 1) throw new StorageUnavailable('it has more than one name (hard link); delete the others');
  if (access !== 'read') accessSync(path, W_OK);
  return realpathSync(path);
}

/** Returns the paths of the write-ahead log and its index. Both exist while a process has the database open. */
export function walFiles(path: string): readonly [log: string, index: string] {
  return [`${path}-wal`, `${path}-shm`];
}

/**
 * Returns how to open a file for reading: for writing if that is permitted, so that SQLite removes the log on close. A log
 * that stays may belong to another user, and keep the service from starting. Otherwise SQLite cannot create its lock
 * files, and `immutable` needs none, but would ignore a log.
 */
export function readOnlyMode(path: string): FileMode {
  if ([path, dirname(path)].every((name) => accessError(name, W_OK) === undefined)) return 'rw';
  return [`${path}-journal`, ...walFiles(path)].some((file) => existsSync(file)) ? 'ro' : 'immutable';
}

/** Describes the first file or directory of a database that denies access to this user; `undefined` if none does. */
export function describeDenied(path: string, isReadOnly: boolean): string | undefined {
  const folder = dirname(path);
  const files = [path, ...walFiles(path)];
  const parents = folder.split(sep).map((_, index, names) => names.slice(0, index + 1).join(sep) || sep);
  const user = process.getuid ? `user ${process.getuid()}` : 'this user';
  for (const [action, paths, mode] of [
    ['enter', parents, X_OK],
    ['read', files, R_OK],
    ['write', isReadOnly ? [] : files, W_OK],
    // SQLite creates the log and its index.
    ['create files in', [folder], W_OK],
  ] as const) {
    for (const name of paths) {
      const code = accessError(name, mode);
      if (code === 'EROFS') return `the file system of ${name} is read-only`;
      if (code === 'EACCES')
        return `permission denied: ${user} may not ${action} ${name}; change its owner or permissions`;
    }
  }
  return undefined;
}

function accessError(path: string, mode: number): unknown {
  try {
    return accessSync(path, mode);
  } catch (error) {
    return Object(error).code;
  }
}

/** Detects that another program damaged the files of an open database. */
export interface FileWatch {
  /** Throws StorageUnavailable for a damaged file. */
  assertIntact(): void;
  /** Whether SQLite may copy the write-ahead log to the database, as it does when it closes the database. Absent: always. */
  canCopyLog?(): boolean;
}

/**
 * Detects that files were moved, deleted, replaced or truncated.
 * @param names The names of the database.
 * @param copyLog Copies the log to the database. Called if the log was deleted, while this still saves its plants.
 */
export function watchFiles(
  names: readonly string[],
  [log, index]: readonly [string, string],
  copyLog: () => void,
): FileWatch {
  const identify = (path: string) => {
    const status = readStatus(path);
    // Only the log may become empty: SQLite can truncate it after copying it to the database.
    return status && (status.size > 0n || path === log) ? `${status.dev} ${status.ino}` : undefined;
  };
  // A database that was not opened for writing may have no log.
  const paths = [...names, log, index].filter((path) => existsSync(path));
  const identities = new Map(paths.map((path) => [path, identify(path)]));
  let logSize = readSize(log);

  const findDamaged = () => {
    for (const [path, identity] of identities) if (identify(path) !== identity) return path;
    const size = readSize(log);
    if (size !== logSize && startsWithGap(log)) return log;
    logSize = size;
    return undefined;
  };
  const canCopyLog = () => {
    // Another process may have written with its own index, or to its own log.
    if (existsSync(index) && identify(index) !== identities.get(index)) return false;
    return identify(log) === identities.get(log) ? !startsWithGap(log) : readSize(log) === 0;
  };
  return {
    canCopyLog,
    assertIntact() {
      const damaged = findDamaged();
      if (damaged === undefined) return;
      if (damaged === log && canCopyLog()) copyLog();
      throw new StorageUnavailable(
        `${basename(damaged)} was moved, deleted, replaced or truncated; stop all processes that use it, then start again`,
      );
    },
  };
}

/** Detects that files were replaced or written to. */
export function watchContent(paths: readonly string[]): FileWatch {
  const read = () =>
    paths.map(readStatus).map((status) => status && [status.dev, status.ino, status.size, status.mtimeNs].join());
  const known = `${read()}`;
  return {
    assertIntact() {
      if (`${read()}` !== known)
        throw new StorageUnavailable('another program wrote to the SQLite file during the read; try again');
    },
  };
}

/** Returns the size of a file in bytes; 0 if it is missing. */
export function readSize(path: string): number {
  return Number(readStatus(path)?.size ?? 0);
}

function readStatus(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Returns whether SQLite continued a log that another program has emptied. */
function startsWithGap(log: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(log, 'r');
    const byte = new Uint8Array(1);
    return readSync(file, byte) === 1 && byte[0] === 0;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
