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

  /** Every plant, ascending by id. */
  async plants(): Promise<TestPlant[]> {
    const rows = await new Promise<Row[]>((resolve, reject) => {
      const sql = 'SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id';
      this.#database.all<Row>(sql, (error, found) => (error ? reject(error) : resolve(found)));
    });
    return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
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
