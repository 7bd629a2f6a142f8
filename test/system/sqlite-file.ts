import { once } from 'node:events';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';
import type { TestPlant } from './client.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/** A second connection to the file of a service, from outside of it. */
export class SqliteFile {
  readonly #database: sqlite3.Database;

  private constructor(database: sqlite3.Database) {
    this.#database = database;
  }

  static async open(path: string): Promise<SqliteFile> {
    const database = new sqlite3.Database(path, sqlite3.OPEN_READWRITE);
    await once(database, 'open');
    return new SqliteFile(database);
  }

  exec(sql: string): Promise<void> {
    return promisify<string, void>(this.#database.exec.bind(this.#database))(sql);
  }

  close(): Promise<void> {
    return promisify<void>(this.#database.close.bind(this.#database))();
  }

  /** What SQLite's own check of the whole file finds (https://sqlite.org/pragma.html#pragma_integrity_check). */
  async damages(): Promise<string[]> {
    const rows = await this.#all<{ integrity_check: string }>('PRAGMA integrity_check');
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  }

  /** Every plant, ascending by id. */
  async plants(): Promise<TestPlant[]> {
    const rows = await this.#all<Row>('SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id');
    return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
  }

  #all<T>(sql: string): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.#database.all<T>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }
}

/** The plants that a file holds, ascending by id. */
export async function plantsIn(path: string): Promise<TestPlant[]> {
  const file = await SqliteFile.open(path);
  try {
    return await file.plants();
  } finally {
    await file.close();
  }
}
