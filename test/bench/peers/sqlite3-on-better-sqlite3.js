// The part of sqlite3's interface that docs/examples/single-file uses, on better-sqlite3 with prepared statements.
import BetterSqlite3 from 'better-sqlite3';

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

  close() {
    this.#db.close();
  }
}

export default { Database };
