// Replaces sqlite3 in a program that starts with `node --import` and this file: the part of its interface that
// docs/examples/single-file uses, on one connection to the PostgreSQL database at DATABASE_URL.
import { register } from 'node:module';
import pg from 'pg';

const hook = `export const resolve = (name, context, next) => next(name === 'sqlite3' ? '${import.meta.url}' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

function toPostgres(sql) {
  if (sql.startsWith('PRAGMA')) return 'SELECT 1';
  let parameters = 0;
  return sql
    .replace('INTEGER PRIMARY KEY', 'BIGINT PRIMARY KEY')
    .replace(
      'value->>0, value->>1, value->>2 FROM json_each',
      'CAST(value->>0 AS BIGINT), value->>1, value->>2 FROM json_array_elements',
    )
    .replaceAll('?', () => `$${++parameters}`);
}

class Database {
  #client = new pg.Client(process.env.DATABASE_URL);
  #connected = this.#client.connect();

  async all(sql, values, done) {
    let rows;
    try {
      await this.#connected;
      ({ rows } = await this.#client.query(toPostgres(sql), values));
    } catch (error) {
      if (error.code === '23505') error.code = 'SQLITE_CONSTRAINT';
      return done(error);
    }
    done(null, rows);
  }
}

export default { Database };
