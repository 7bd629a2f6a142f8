import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { chooseDriver } from '#adapters/driven/knex/sqlite-file.js';

const require = createRequire(import.meta.url);

/** A separate connection to the SQLite file of a service, on the same driver. */
export interface SqliteFile {
  all(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Runs several statements. */
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
}

export const SqliteFile = {
  /** By default on the driver that the service uses. Two drivers in one process would not see each other's locks. */
  async open(path: string, driver = chooseDriver()): Promise<SqliteFile> {
    const file = driver === 'sqlite3' ? openSqlite3(path) : openNodeSqlite(path);
    await file.exec('PRAGMA busy_timeout = 10000');
    return file;
  },
};

function openSqlite3(path: string): SqliteFile {
  const database = new (require('sqlite3').Database)(path);
  return {
    all: promisify(database.all.bind(database)),
    exec: promisify(database.exec.bind(database)),
    close: promisify(database.close.bind(database)),
  };
}

function openNodeSqlite(path: string): SqliteFile {
  const database = new (require('node:sqlite').DatabaseSync)(path);
  return {
    all: async (sql) => database.prepare(sql).all(),
    exec: async (sql) => database.exec(sql),
    close: async () => database.close(),
  };
}
