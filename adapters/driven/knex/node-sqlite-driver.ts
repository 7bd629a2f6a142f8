import { accessSync } from 'node:fs';
import { createRequire } from 'node:module';
import { MAX_STATEMENTS } from './sqlite.js';

const require = createRequire(import.meta.url);
const { DatabaseSync }: { readonly DatabaseSync: new (filename: string) => SyncDatabase } = require('node:sqlite');

/** The names of the primary result codes, by number (https://sqlite.org/rescode.html). */
const RESULT_CODES =
  `OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN
  PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB`.split(/\s+/);

/** The part of `node:sqlite` that is used here. The types of Node 20 lack it. */
interface SyncDatabase {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

interface Statement {
  all(...bindings: readonly unknown[]): readonly object[];
  run(...bindings: readonly unknown[]): { readonly lastInsertRowid: number; readonly changes: number };
}

type Callback = (this: unknown, error: unknown, rows?: readonly object[]) => void;

/** `node:sqlite` with the methods of a `sqlite3` database that Knex calls, and with statements that stay prepared. */
class Database {
  readonly #database: SyncDatabase;
  readonly #statements = new Map<string, Statement>();

  constructor(filename: string, _flags: number, done: Callback) {
    // `DatabaseSync` would create a file in place of one that is away.
    if (filename !== ':memory:') accessSync(filename);
    this.#database = new DatabaseSync(filename);
    // Waits for locks only briefly, because the wait blocks the event loop.
    this.#database.exec('PRAGMA busy_timeout = 20');
    // Later, because Knex uses the database in the callback.
    queueMicrotask(() => done.call(this, null));
  }

  all(sql: string, bindings: readonly unknown[] = [], done: Callback): void {
    const { error, value } = attempt(() => this.#prepare(sql).all(...bindings));
    done.call(this, error, value);
  }

  run(sql: string, bindings: readonly unknown[] = [], done: Callback): void {
    const { error, value } = attempt(() => this.#prepare(sql).run(...bindings));
    done.call({ lastID: value?.lastInsertRowid, changes: value?.changes }, error);
  }

  close(done: Callback): void {
    done.call(this, attempt(() => this.#database.close()).error);
  }

  #prepare(sql: string): Statement {
    const kept = this.#statements.get(sql);
    if (kept) return kept;
    // The garbage collector finalizes them.
    if (this.#statements.size === MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Returns the value of `work`, or its error with the codes that `sqlite3` would give it. */
function attempt<T>(work: () => T): { readonly error: unknown; readonly value?: T } {
  try {
    return { error: null, value: work() };
  } catch (error) {
    // The primary result code is the low byte of the extended one.
    if (error instanceof Error && 'errcode' in error) {
      const errno = Number(error.errcode) & 0xff;
      Object.assign(error, { code: `SQLITE_${RESULT_CODES[errno]}`, errno });
    }
    return { error };
  }
}

/** Node's own `node:sqlite`, which runs statements on the calling thread, as Knex uses `sqlite3`. */
export const driver = { Database };
