import { once } from 'node:events';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';
import type { TestPlant } from './client.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/** A separate connection to the SQLite file of a service. */
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

  static async create(path: string): Promise<SqliteFile> {
    const database = new sqlite3.Database(path);
    await once(database, 'open');
    return new SqliteFile(database);
  }

  exec(sql: string): Promise<void> {
    return promisify<string, void>(this.#database.exec.bind(this.#database))(sql);
  }

  close(): Promise<void> {
    return promisify<void>(this.#database.close.bind(this.#database))();
  }

  /** Runs an integrity check and returns the errors (https://sqlite.org/pragma.html#pragma_integrity_check). */
  async checkIntegrity(): Promise<string[]> {
    const rows = await this.#all<{ integrity_check: string }>('PRAGMA integrity_check');
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  }

  /** Reads every plant, ascending by id. */
  async readPlants(): Promise<TestPlant[]> {
    const rows = await this.#all<Row>('SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id');
    return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
  }

  #all<T>(sql: string): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.#database.all<T>(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }
}

/** Reads every plant of a SQLite file, ascending by id. */
export async function readSqlitePlants(path: string): Promise<TestPlant[]> {
  const file = await SqliteFile.open(path);
  try {
    return await file.readPlants();
  } finally {
    await file.close();
  }
}
