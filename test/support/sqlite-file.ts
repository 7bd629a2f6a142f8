import { writeFileSync } from 'node:fs';
import { loadSqliteDriver } from '../../adapters/driven/knex/sqlite.js';
import type { SqliteConnection, SqliteRow } from '../../adapters/driven/knex/sqlite-driver.js';
import { TEXT_FIELDS } from '../../core/index.js';
import type { TestPlant } from './client.js';
import { fromRow } from './plants.js';

/** A separate connection to the SQLite file of a service, on the same driver. */
export class SqliteFile {
  readonly #connection: SqliteConnection;

  private constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  static async open(path: string): Promise<SqliteFile> {
    const driver = loadSqliteDriver();
    if (driver === undefined) throw new Error('there is no driver');
    const connection = await driver.open(path, 'rw');
    await connection.exec('PRAGMA busy_timeout = 10000');
    return new SqliteFile(connection);
  }

  static async create(path: string): Promise<SqliteFile> {
    writeFileSync(path, '', { flag: 'wx' });
    return SqliteFile.open(path);
  }

  exec(sql: string): Promise<void> {
    return this.#connection.exec(sql);
  }

  all(sql: string): Promise<readonly SqliteRow[]> {
    return this.#connection.all(sql);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Runs an integrity check and returns the errors (https://sqlite.org/pragma.html#pragma_integrity_check). */
  async checkIntegrity(): Promise<string[]> {
    const rows = await this.all('PRAGMA integrity_check');
    return rows.map((row) => `${row['integrity_check']}`).filter((text) => text !== 'ok');
  }

  /** Reads every plant, ascending by id. */
  async readPlants(): Promise<TestPlant[]> {
    const texts = TEXT_FIELDS.map((field) => `'${field}', ${field}`).join(', ');
    const rows = await this.all(`SELECT json_object('id', CAST(id AS TEXT), ${texts}) AS row FROM plants ORDER BY id`);
    return rows.map(({ row }) => fromRow(JSON.parse(`${row}`)));
  }
}

/** Reads every plant of a SQLite file, ascending by id. */
export async function readSqlitePlants(path: string): Promise<TestPlant[]> {
  const file = await SqliteFile.open(path);
  return file.readPlants().finally(() => file.close());
}
