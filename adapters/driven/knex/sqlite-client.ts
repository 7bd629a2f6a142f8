import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { SqliteConnection, SqliteRow } from './sqlite-driver.js';

/** Knex's SQLite client, for its SQL. */
const Client: typeof Knex.Client = createRequire(import.meta.url)('knex/lib/dialects/sqlite3');

/** A Knex statement. Knex expects the rows in `response`, and in `context` what a write did, which no caller uses. */
interface Query {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  response?: readonly SqliteRow[];
  context?: SqliteRow;
}

/** Returns a Knex client for one open connection. */
export function sqliteClient(connection: SqliteConnection, close: () => Promise<void>): typeof Knex.Client {
  return class extends Client {
    override async acquireRawConnection(): Promise<SqliteConnection> {
      return connection;
    }

    override destroyRawConnection(): Promise<void> {
      return close();
    }

    /** Knex loads no driver of its own. */
    _driver(): void {}

    async _query(_: SqliteConnection, query: Query): Promise<Query> {
      query.response = await connection.all(query.sql, query.bindings);
      query.context = {};
      return query;
    }
  };
}
