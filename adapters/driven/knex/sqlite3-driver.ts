import { createRequire } from 'node:module';
import { MAX_STATEMENTS } from './sqlite.js';

const require = createRequire(import.meta.url);
const sqlite3: { readonly Database: new (...options: readonly unknown[]) => Database } = require('sqlite3');

type Callback = (error: Error | null, rows?: unknown) => void;

/** The part of `sqlite3` that is used here. Its types are missing where it is not installed. */
interface Database {
  serialize(): void;
  /** Calls `work` when the calls before it have ended. */
  wait(work: () => void): void;
  prepare(sql: string, done: Callback): Statement;
  all(sql: string, bindings: unknown, done: Callback): void;
  close(done: Callback): void;
}

interface Statement {
  all(bindings: unknown, done: Callback): void;
  finalize(): void;
}

/** A connection with statements that stay prepared. Preparing takes a turn of its own on the thread pool. */
class Connection extends sqlite3.Database {
  readonly #statements = new Map<string, Statement>();

  constructor(...options: readonly unknown[]) {
    super(...options);
    // Otherwise, a ROLLBACK of the caller may overtake an insert, which then commits by itself.
    this.serialize();
  }

  override all(sql: string, bindings: unknown, done: Callback): void {
    const end: Callback = (error, rows) => {
      // A statement that failed with SQLITE_BUSY is still running: the next ones would not commit.
      if (error) this.#finalize(sql);
      done(error, rows);
    };
    // A prepared statement does not wait by itself.
    this.wait(() => {
      if (this.#statements.size === MAX_STATEMENTS) this.#finalize(...this.#statements.keys());
      const onPrepared: Callback = (error) => {
        if (error) end(error);
      };
      const statement = this.#statements.get(sql) ?? this.prepare(sql, onPrepared);
      this.#statements.set(sql, statement);
      statement.all(bindings, end);
    });
  }

  override close(done: Callback): void {
    this.#finalize(...this.#statements.keys());
    super.close(done);
  }

  #finalize(...statements: readonly string[]): void {
    for (const sql of statements) {
      this.#statements.get(sql)?.finalize();
      this.#statements.delete(sql);
    }
  }
}

/** `sqlite3` with statements that stay prepared. */
export const driver = { ...sqlite3, Database: Connection };
