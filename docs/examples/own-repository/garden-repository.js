import { Plant, StorageUnavailable } from 'plant-store/core';

/** In the order of numbers, so that overlapping batches wait for one another and do not deadlock. */
const INSERT = `INSERT INTO garden SELECT number, label, kind
  FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS new (number, label, kind, position)
  ORDER BY number, position ON CONFLICT DO NOTHING RETURNING number`;
const PAGE = 'SELECT * FROM garden WHERE $1::bigint IS NULL OR number > $1 ORDER BY number LIMIT 1000';

/** Keeps plants in a table of one's own in PostgreSQL: `garden (number bigint PRIMARY KEY, label text, kind text)`. */
export class GardenRepository {
  #pool;
  #underWay = Promise.resolve();
  #closed;

  constructor(pool) {
    this.#pool = pool;
  }

  async add(plants) {
    const columns = [plants.map(({ id }) => `${id}`), plants.map(({ name }) => name), plants.map(({ tag }) => tag)];
    const added = new Set((await this.#query(INSERT, columns)).map(({ number }) => number));
    // A statement of its own: the first one does not see what others added meanwhile.
    const rows = await this.#query('SELECT * FROM garden WHERE number = ANY ($1)', [columns[0]]);
    const holders = new Map(rows.map((row) => [row.number, plantOf(row)]));
    return columns[0].map((id) => (added.delete(id) ? { kind: 'added' } : { kind: 'taken', holder: holders.get(id) }));
  }

  async *readAll() {
    let rows = await this.#query(PAGE, [null]);
    for (; rows.length > 0; rows = await this.#query(PAGE, [rows.at(-1).number])) yield rows.map(plantOf);
  }

  async ready() {
    await this.#query('SELECT 1 FROM garden LIMIT 1');
  }

  close() {
    this.#closed ??= this.#underWay.then(() => this.#pool.end());
    return this.#closed;
  }

  async #query(sql, values) {
    if (this.#closed) throw new StorageUnavailable('the garden is closed');
    const answer = this.#pool.query(sql, values);
    // A pool that ends forgets the queries that wait for a connection.
    this.#underWay = Promise.allSettled([this.#underWay, answer]).then(() => {});
    return answer.then(
      ({ rows }) => rows,
      (cause) => Promise.reject(new StorageUnavailable('the garden does not answer', { cause })),
    );
  }
}

/** The driver hands over a bigint as text, so that nothing is rounded. */
const plantOf = ({ number, label, kind }) => Plant.from({ id: BigInt(number), name: label, tag: kind ?? undefined });
