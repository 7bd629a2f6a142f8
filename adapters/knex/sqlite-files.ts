import { closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageUnavailable } from '../../core/index.js';

/** Returns a check that throws StorageUnavailable for a moved, deleted, replaced or (`includeContent`) changed file. */
export function snapshotFiles(paths: readonly string[], includeContent: boolean): () => void {
  const read = (path: string) => {
    try {
      const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
      return includeContent ? `${dev} ${ino} ${size} ${mtimeNs}` : `${dev} ${ino}`;
    } catch {
      return undefined;
    }
  };
  const remembered = paths.map(read);
  return () => {
    if (paths.every((path, index) => read(path) === remembered[index])) return;
    throw new StorageUnavailable(
      includeContent
        ? 'another program wrote to the SQLite file during the read; try again'
        : 'the SQLite file was moved, deleted or replaced; restart the service',
    );
  };
}

/** Creates a file and its directories if they are missing, durably and accessible to their owner only. */
export function createFile(path: string): void {
  const directory = dirname(path);
  const firstCreated = mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Without O_NONBLOCK, opening a named pipe would block.
  closeSync(openSync(path, constants.O_APPEND | constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o600));
  if (firstCreated === undefined) return;
  // SQLite syncs the directory of the file, but not the parents of new directories.
  for (let created = directory; ; created = dirname(created)) {
    const parent = openSync(dirname(created), 'r');
    try {
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
    if (created === firstCreated) return;
  }
}
