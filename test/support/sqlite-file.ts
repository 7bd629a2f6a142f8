import { writeFileSync } from 'node:fs';
import { loadSqliteDriver } from '../../adapters/driven/knex/sqlite.js';
import type { SqliteConnection } from '../../adapters/driven/knex/sqlite-driver.js';

/** A separate connection to the SQLite file of a service, on the same driver. */
export type SqliteFile = SqliteConnection;

export const SqliteFile = {
  async open(path: string): Promise<SqliteFile> {
    const file = await loadSqliteDriver()?.open(path, 'rw');
    if (file === undefined) throw new Error('there is no driver');
    await file.exec('PRAGMA busy_timeout = 10000');
    return file;
  },

  create(path: string): Promise<SqliteFile> {
    writeFileSync(path, '', { flag: 'wx' });
    return SqliteFile.open(path);
  },
};
