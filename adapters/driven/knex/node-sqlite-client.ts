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

/** What Knex runs. It expects the rows in `response`, or in `context` what a write did. */
interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly method: string;
  readonly returning?: unknown;
}

/** Knex on Node's own `node:sqlite`, which runs statements on the calling thread. */
export class NodeSqliteClient extends Client {
  _driver() {
    return DatabaseSync;
  }

  override async acquireRawConnection() {
    const database = new Connection(Object(this.connectionSettings).filename);
    // Waits for locks only briefly, because the wait blocks the event loop.
    database.exec('PRAGMA busy_timeout = 20');
    return database;
  }

  override async destroyRawConnection(database: Database): Promise<void> {
    database.close();
  }

  async _query(database: Database, query: Query): Promise<object> {
    try {
      const { sql, bindings = [], method, returning } = query;
      const statement = database.prepare(sql);
      if (returning || !['insert', 'update', 'del', 'counter'].includes(method))
        return Object.assign(query, { response: statement.all(...bindings), context: {} });
      const { lastInsertRowid: lastID, changes } = statement.run(...bindings);
      return Object.assign(query, { context: { lastID, changes } });
    } catch (error) {
      throw toSqliteError(error);
    }
  }
}

/** Adds SQLite's primary result code, as `sqlite3` has it: the low byte of the extended one. */
function toSqliteError(error: unknown): unknown {
  if (!(error instanceof Error && 'errcode' in error)) return error;
  const errcode = Number(error.errcode);
  return Object.assign(error, { code: `SQLITE_ERROR ${errcode}`, errno: errcode & 0xff });
}
