import { createRequire } from 'node:module';
import { MAX_STATEMENTS } from './sqlite.js';

const require = createRequire(import.meta.url);
const sqlite3: {
  readonly Database: new (filename: string, flags: number, done: Callback) => Database;
  readonly OPEN_CREATE: number;
} = require('sqlite3');

type Callback = (error: Error | null, rows?: unknown) => void;

/** The part of `sqlite3` that is used here. Its types are missing where it is not installed. */
interface Database {
  serialize(): void;
  /** Calls `work` when the calls before it have ended. */
  wait(work: () => void): void;
  prepare(sql: string, done: Callback): Statement;
  all(sql: string, bindings: readonly unknown[], done: Callback): void;
  run(sql: string, bindings: readonly unknown[], done: Callback): void;
  close(done: Callback): void;
}

interface Statement {
  all(bindings: unknown, done: Callback): void;
  finalize(): void;
}

/** A connection with statements that stay prepared. Preparing takes a turn of its own on the thread pool. */
class Connection extends sqlite3.Database {
  readonly #statements = new Map<string, Statement>();

  constructor(filename: string, flags: number, done: Callback) {
    // Knex would let it create a file in place of one that is away.
    super(filename, flags & ~sqlite3.OPEN_CREATE, done);
    // A ROLLBACK of the caller must not overtake an insert, which would then commit by itself.
    this.serialize();
  }

  override all(sql: string, bindings: readonly unknown[] = [], done: Callback): void {
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
      statement.all(bindings.map(toBinding), end);
    });
  }

  override run(sql: string, bindings: readonly unknown[] = [], done: Callback): void {
    super.run(sql, bindings.map(toBinding), done);
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

/** Converts a bigint, which `sqlite3` would bind as NULL. It binds a number of more than 32 bits as a double. */
function toBinding(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  if (value !== BigInt.asIntN(64, value)) throw new RangeError('a bigint must be an int64');
  return value === BigInt.asIntN(32, value) ? Number(value) : `${value}`;
}

/** `sqlite3` with statements that stay prepared. */
export const driver = { ...sqlite3, Database: Connection };
