// A plugin that stores plants in a PostgreSQL table of your own. Run the commands where `pg` and `plant-store` are
// installed:
//
//   psql "$GARDEN_URL" -c 'CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)'
//   export PLUGINS=./garden.js DATABASE_URL="garden${GARDEN_URL#postgres}"
//   npx plant-store import plants.ndjson
//   npx plant-store serve
//
// If a plant can violate a constraint of your table, return `{ kind: 'rejected', error }` for it and add the others
// without it. This example instead reports a violation as `StorageUnavailable`.

import { Plant, StorageUnavailable } from '@plant-store/core';
import pg from 'pg';
import { services } from 'plant-store';

/** Inserts in the order of ids, so that overlapping batches wait for each other instead of deadlocking. */
const INSERT = `INSERT INTO garden SELECT number, label, kind FROM unnest($1::bigint[], $2::text[], $3::text[])
  WITH ORDINALITY AS new (number, label, kind) ORDER BY number, ordinality ON CONFLICT DO NOTHING RETURNING number`;
const READ = 'SELECT * FROM garden WHERE number >= $1 ORDER BY number LIMIT $2';

/** The plugin: opens the URLs of the scheme `garden`. The driver expects the scheme `postgres`. */
export default (container) => {
  const openGarden = ({ url }) => {
    const pool = new pg.Pool({ connectionString: url.replace(/^garden:/, 'postgres:') });
    // An idle connection ended; the pool opens another.
    pool.on('error', () => {});
    return new GardenRepository(pool);
  };
  container.bind(services.OpenStorage).toConstantValue(openGarden).whenNamed('garden');
};

/** Stores plants in a PostgreSQL table: `garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)`. */
export class GardenRepository {
  #pool;
  #pending = Promise.resolve();
  #closed;

  constructor(pool) {
    this.#pool = pool;
  }

  add(plants) {
    return this.#whileOpen(() => this.#add(plants));
  }

  async #add(plants) {
    const ids = plants.map(({ id }) => `${id}`);
    const inserted = await this.#query(INSERT, [ids, plants.map(({ name }) => name), plants.map(({ tag }) => tag)]);
    const added = new Set(inserted.map(({ number }) => number));
    // A separate statement, because INSERT does not see rows that others commit meanwhile.
    const rows = await this.#query('SELECT * FROM garden WHERE number = ANY ($1)', [ids]);
    const stored = new Map(rows.map((row) => [row.number, toPlant(row)]));
    return ids.map((id) => (added.delete(id) ? { kind: 'added' } : { kind: 'conflict', stored: stored.get(id) }));
  }

  async find(id) {
    const [plant] = await this.#read('SELECT * FROM garden WHERE number = $1', [`${id}`]);
    return plant;
  }

  read(from, limit) {
    return this.#read(READ, [`${from}`, limit]);
  }

  async #read(sql, values) {
    const rows = await this.#whileOpen(() => this.#query(sql, values));
    return rows.map(toPlant);
  }

  async ready() {
    await this.#whileOpen(() => this.#query('SELECT 1 FROM garden LIMIT 1'));
  }

  close() {
    this.#closed ??= this.#pending.then(() => this.#pool.end());
    return this.#closed;
  }

  /** Throws after `close`, and lets `close` wait for pending calls. */
  async #whileOpen(start) {
    if (this.#closed) throw new StorageUnavailable('the garden is closed');
    const call = start();
    this.#pending = Promise.allSettled([this.#pending, call]).then(() => {});
    return call;
  }

  async #query(sql, values) {
    try {
      return (await this.#pool.query(sql, values)).rows;
    } catch (cause) {
      throw new StorageUnavailable('the garden is unavailable', { cause });
    }
  }
}

/** Converts a row. The driver returns a bigint as text, so that ids are exact. */
const toPlant = (row) => Plant.from({ id: BigInt(row.number), name: row.label, tag: row.kind ?? undefined }).plant;
