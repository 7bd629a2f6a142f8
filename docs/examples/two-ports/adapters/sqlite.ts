import sqlite3 from 'sqlite3';
import type { Plant } from '../core/plant.js';
import type { AddOutcome, PlantRepository } from '../core/ports.js';

type Row = { readonly name: string; readonly tag: string | null };
type Pending = { plant: Plant; resolve: (outcome: AddOutcome) => void; reject: (error: unknown) => void };

const INSERT_ALL = 'INSERT INTO plants SELECT value->>0, value->>1, value->>2 FROM json_each(?)';

/** Stores plants in a SQLite file. */
export class SqlitePlantRepository implements PlantRepository {
  readonly #db: sqlite3.Database;
  readonly #groupCommit: boolean;
  #pending: Pending[] = [];
  #isCommitting = false;

  /** @param groupCommit whether plants that arrive together share a sync */
  static async open(file: string, { groupCommit = false } = {}): Promise<SqlitePlantRepository> {
    const repository = new SqlitePlantRepository(new sqlite3.Database(file), groupCommit);
    await repository.#query('PRAGMA journal_mode = WAL');
    await repository.#query('PRAGMA synchronous = FULL');
    await repository.#query('CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
    return repository;
  }

  private constructor(db: sqlite3.Database, groupCommit: boolean) {
    this.#db = db;
    this.#groupCommit = groupCommit;
  }

  add(plant: Plant): Promise<AddOutcome> {
    return this.#groupCommit ? this.#addInBatch(plant) : this.#addOne(plant);
  }

  close(): void {
    this.#db.close();
  }

  async #addOne(plant: Plant): Promise<AddOutcome> {
    const { id, name, tag } = plant;
    // SQLite converts the digits of an id exactly; the driver has no bigint.
    const digits = `${id}`;
    try {
      await this.#query('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)', [digits, name, tag]);
      return { kind: 'added' };
    } catch (error) {
      const [row] = await this.#query('SELECT name, tag FROM plants WHERE id = ?', [digits]);
      if (row === undefined) throw error;
      return { kind: 'conflict', stored: { id, name: row.name, tag: row.tag ?? undefined } };
    }
  }

  #addInBatch(plant: Plant): Promise<AddOutcome> {
    return new Promise((resolve, reject) => {
      const size = this.#pending.push({ plant, resolve, reject });
      if (size === 1 && !this.#isCommitting) setImmediate(() => this.#commit());
    });
  }

  async #commit(): Promise<void> {
    this.#isCommitting = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        const rows = batch.map(({ plant: { id, name, tag } }) => [`${id}`, name, tag]);
        await this.#query(INSERT_ALL, [JSON.stringify(rows)]);
        for (const { resolve } of batch) resolve({ kind: 'added' });
      } catch {
        // An id is in use.
        for (const { plant, resolve, reject } of batch) await this.#addOne(plant).then(resolve, reject);
      }
    }
    this.#isCommitting = false;
  }

  #query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#db.all<Row>(sql, values, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }
}
