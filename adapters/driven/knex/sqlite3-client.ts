import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import { MAX_STATEMENTS } from './sqlite.js';

/** Knex's client for `sqlite3`. */
const Client: typeof Knex.Client = createRequire(import.meta.url)('knex/lib/dialects/sqlite3');

type Callback = (error: Error | null, rows?: unknown) => void;

/** The part of `sqlite3` that is used here. Its types are missing where it is not installed. */
interface Database {
  prepare(sql: string, done: Callback): Statement;
  run(sql: string, bindings: unknown, done: Callback): void;
  /** Calls `work` when the calls before it have ended. */
  wait(work: () => void): void;
  close(done: Callback): void;
}

interface Statement {
  all(bindings: unknown, done: Callback): void;
  finalize(): void;
}

/** Knex on `sqlite3` with statements that stay prepared. Preparing takes a turn of its own on the thread pool. */
export class Sqlite3Client extends Client {
  override async acquireRawConnection() {
    return new Connection(await super.acquireRawConnection());
  }
}

/**
 * What Knex calls. One call runs after the other. Otherwise, a ROLLBACK of the caller may overtake an insert, which then
 * commits by itself.
 */
class Connection {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  all(sql: string, bindings: unknown, done: Callback): void {
    const end: Callback = (error, rows) => {
      // A statement that failed with SQLITE_BUSY is still running: the next ones would not commit.
      if (error) this.#finalize([sql]);
      done(error, rows);
    };
    this.#database.wait(() => {
      const statement = this.#statements.get(sql) ?? this.#prepare(sql, (error) => error && end(error));
      statement.all(bindings, end);
    });
  }

  /** Keeps no statement, because one that returns rows would stay open after the first. */
  run(sql: string, bindings: unknown, done: Callback): void {
    this.#database.wait(() => this.#database.run(sql, bindings, done));
  }

  close(done: Callback): void {
    this.#finalize(this.#statements.keys());
    this.#database.close(done);
  }

  #prepare(sql: string, done: Callback): Statement {
    if (this.#statements.size === MAX_STATEMENTS) this.#finalize(this.#statements.keys());
    const statement = this.#database.prepare(sql, done);
    this.#statements.set(sql, statement);
    return statement;
  }

  #finalize(statements: Iterable<string>): void {
    for (const sql of statements) {
      this.#statements.get(sql)?.finalize();
      this.#statements.delete(sql);
    }
  }
}
