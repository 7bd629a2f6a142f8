import { Plant, StorageUnavailable } from 'plant-store/core';

/** Keeps plants in a table of one's own in PostgreSQL: `garden (number bigint PRIMARY KEY, label text, kind text)`. */
export class GardenRepository {
  #pool;

  constructor(pool) {
    this.#pool = pool;
  }

  async add(plants) {
    const columns = [plants.map(({ id }) => `${id}`), plants.map(({ name }) => name), plants.map(({ tag }) => tag)];
    // In the order of numbers, so that overlapping batches wait for one another and do not deadlock.
    const inserted = await this.#query(
      `INSERT INTO garden SELECT number, label, kind
       FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS new (number, label, kind, position)
       ORDER BY number, position ON CONFLICT DO NOTHING RETURNING number`,
      columns,
    );
    const added = new Set(inserted.map(({ number }) => number));
    // A statement of its own: the one above does not see what others added meanwhile.
    const rows = await this.#query('SELECT * FROM garden WHERE number = ANY ($1)', [columns[0]]);
    const holders = new Map(rows.map((row) => [row.number, plantOf(row)]));
    return columns[0].map((number) =>
      added.delete(number) ? { kind: 'added' } : { kind: 'taken', holder: holders.get(number) },
    );
  }

  async *readAll() {
    const page = 'SELECT * FROM garden WHERE $1::bigint IS NULL OR number > $1 ORDER BY number LIMIT 1000';
    let rows = await this.#query(page, [null]);
    for (; rows.length > 0; rows = await this.#query(page, [rows.at(-1).number])) yield rows.map(plantOf);
  }

  async ready() {
    await this.#query('SELECT 1 FROM garden LIMIT 1');
  }

  close() {
    return this.#pool.end();
  }

  #query(sql, values) {
    return this.#pool.query(sql, values).then(
      ({ rows }) => rows,
      (cause) => Promise.reject(new StorageUnavailable('the garden does not answer', { cause })),
    );
  }
}

/** The driver hands over a bigint as text, so that nothing is rounded. */
const plantOf = ({ number, label, kind }) => Plant.from({ id: BigInt(number), name: label, tag: kind ?? undefined });
