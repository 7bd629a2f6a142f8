// Replaces sqlite3 in a program that starts with `node --import` and this file: the part of its interface that
// docs/examples/single-file uses, on better-sqlite3 with prepared statements.
import { register } from 'node:module';
import BetterSqlite3 from 'better-sqlite3';

const hook = `export const resolve = (name, context, next) => next(name === 'sqlite3' ? '${import.meta.url}' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

class Database {
  #statements = new Map();
  #db;

  constructor(file) {
    this.#db = new BetterSqlite3(file);
  }

  all(sql, values, done) {
    let rows;
    try {
      const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
      this.#statements.set(sql, statement);
      rows = statement.reader ? statement.all(values) : statement.run(values) && [];
    } catch (error) {
      if (error.code?.startsWith('SQLITE_CONSTRAINT')) error.code = 'SQLITE_CONSTRAINT';
      return done(error);
    }
    done(null, rows);
  }
}

export default { Database };
