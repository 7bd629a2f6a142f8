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
  if (access !== 'read') accessSync(path, constants.W_OK);
  return realpathSync(path);
}

/** Returns the paths of the write-ahead log and its index. Both exist while a process has the database open. */
export function walFiles(path: string): readonly [log: string, index: string] {
  return [`${path}-wal`, `${path}-shm`];
}

/** Returns whether this process may write the file and create files beside it. */
export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Describes the first file or directory of a database that denies access to this user; `undefined` if none does. */
export function describeDenied(path: string, isReadOnly: boolean): string | undefined {
  const { R_OK, W_OK, X_OK } = constants;
  const folder = dirname(path);
  const files = [path, ...walFiles(path)];
  const parents = folder.split(sep).map((_, index, names) => names.slice(0, index + 1).join(sep) || sep);
  const needed: (readonly [action: string, path: string, mode: number])[] = [
    ...parents.map((name) => ['enter', name, X_OK] as const),
    ...files.map((name) => ['read', name, R_OK] as const),
    ...(isReadOnly ? [] : files.map((name) => ['write', name, W_OK] as const)),
    // SQLite creates the log and its index.
    ['create files in', folder, W_OK],
  ];
  const denied = needed.find(([, name, mode]) => isDenied(name, mode));
  const user = process.getuid ? `user ${process.getuid()}` : 'this user';
  return denied && `permission denied: ${user} may not ${denied[0]} ${denied[1]}; change its owner or permissions`;
}

function isDenied(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}

/** Detects that another program damaged the files of an open database. */
export interface FileWatch {
  /** Throws StorageUnavailable for a damaged file, unless this check passed within the last `maxAgeMs` milliseconds. */
  assertIntact(maxAgeMs: number): void;
  /** Whether SQLite may copy the write-ahead log to the database, as it does when it closes the database. */
  canCopyLog(): boolean;
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
  let logSize = readStatus(log)?.size;
  let passedAt = Number.NEGATIVE_INFINITY;

  const findDamaged = () => {
    for (const [path, identity] of identities) if (identify(path) !== identity) return path;
    const size = readStatus(log)?.size;
    if (size === logSize || size === 0n) return undefined;
    // SQLite leaves a gap when it continues a log that another program has emptied.
    if (readFirstByte(log) === 0) return log;
    logSize = size;
    return undefined;
  };
  const canCopyLog = () => {
    // Another process may have written with its own index, or to its own log.
    if (existsSync(index) && identify(index) !== identities.get(index)) return false;
    const isEmpty = (readStatus(log)?.size ?? 0n) === 0n;
    if (identify(log) !== identities.get(log)) return isEmpty;
    return isEmpty ? logSize === 0n : readFirstByte(log) !== 0;
  };
  return {
    canCopyLog,
    assertIntact(maxAgeMs) {
      if (performance.now() - passedAt < maxAgeMs) return;
      passedAt = Number.NEGATIVE_INFINITY;
      const damaged = findDamaged();
      if (damaged === log && canCopyLog()) copyLog();
      if (damaged !== undefined) {
        throw new StorageUnavailable(
          `${basename(damaged)} was moved, deleted, replaced or truncated; stop all processes that use it, then start again`,
        );
      }
      passedAt = performance.now();
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
      if (`${read()}` === known) return;
      throw new StorageUnavailable('another program wrote to the SQLite file during the read; try again');
    },
    canCopyLog: () => true,
  };
}

/** Returns the size of a file in bytes; 0 if it is missing. */
export function sizeOf(path: string): number {
  return Number(readStatus(path)?.size ?? 0);
}

function readStatus(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function readFirstByte(path: string): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const byte = new Uint8Array(1);
    return readSync(file, byte) === 1 ? byte[0] : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
