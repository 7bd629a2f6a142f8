import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import { MAX_STATEMENTS } from './sqlite.js';

const require = createRequire(import.meta.url);

/** Knex's SQLite client, for its SQL. */
const Client: typeof Knex.Client = require('knex/lib/dialects/sqlite3');

const { DatabaseSync }: { readonly DatabaseSync: new (filename: string) => Database } = require('node:sqlite');

/** The part of `node:sqlite` that is used here. The types of Node 20 lack it. */
interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

interface Statement {
  all(...bindings: readonly unknown[]): readonly object[];
  run(...bindings: readonly unknown[]): { readonly lastInsertRowid: number; readonly changes: number };
}

/** A connection with statements that stay prepared. */
class Connection extends DatabaseSync {
  readonly #statements = new Map<string, Statement>();

  override prepare(sql: string): Statement {
    const kept = this.#statements.get(sql);
    if (kept) return kept;
    // The garbage collector finalizes them.
    if (this.#statements.size === MAX_STATEMENTS) this.#statements.clear();
    const statement = super.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** What Knex runs, and what it expects of the client afterwards. */
interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly method: string;
  readonly returning?: unknown;
  /** The rows of a statement that returns rows. */
  response?: readonly object[];
  /** What another statement did. */
  context?: { readonly lastID: number; readonly changes: number };
}

/** Knex on Node's own `node:sqlite`, which runs statements on the calling thread. */
export class NodeSqliteClient extends Client {
  declare readonly connectionSettings: { readonly filename: string };

  _driver() {
    return DatabaseSync;
  }

  override async acquireRawConnection() {
    const database = new Connection(this.connectionSettings.filename);
    // Waits for locks only briefly, because the wait blocks the event loop.
    database.exec('PRAGMA busy_timeout = 20');
    return database;
  }

  override async destroyRawConnection(database: Database): Promise<void> {
    database.close();
  }

  async _query(database: Database, query: Query): Promise<Query> {
    const { sql, bindings = [], method, returning } = query;
    try {
      const statement = database.prepare(sql);
      if (returning || !['insert', 'update', 'del', 'counter'].includes(method)) {
        query.response = statement.all(...bindings);
      } else {
        const { lastInsertRowid: lastID, changes } = statement.run(...bindings);
        query.context = { lastID, changes };
      }
      return query;
    } catch (error) {
      if (error instanceof Error && 'errcode' in error) throw new SqliteError(error.message, Number(error.errcode));
      throw error;
    }
  }
}

/** An error with the codes that `sqlite3` would give it. */
class SqliteError extends Error {
  readonly code: string;
  /** The primary result code: the low byte of the extended one. */
  readonly errno: number;

  constructor(message: string, extendedCode: number) {
    super(message);
    this.code = `SQLITE_ERROR ${extendedCode}`;
    this.errno = extendedCode & 0xff;
  }
}
