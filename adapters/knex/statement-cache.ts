/** The part of `sqlite3.Database` that is used here. Knex runs raw statements and selects through `all`. */
export interface SqliteConnection {
  all(sql: string, bindings: readonly unknown[], done: Done): unknown;
  exec(sql: string, done: (error: Error | null) => void): void;
  get(sql: string, done: (error: Error | null, row: { application_id: number; journal_mode: string }) => void): void;
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement;
  close(done: (error: Error | null) => void): void;
}

interface SqliteStatement {
  all(bindings: readonly unknown[], done: Done): unknown;
  finalize(): unknown;
}

type Done = (error: Error | null, rows?: readonly unknown[]) => void;

/** Maximum number of cached statements. */
const MAX_STATEMENTS = 16;

/**
 * Caches the prepared statements of a connection. Preparing each statement again costs a client that creates one plant
 * at a time about a tenth of its throughput (docs/decisions/0012-group-commit.md).
 */
export function cacheStatements(connection: SqliteConnection): void {
  const statements = new Map<string, SqliteStatement>();
  const clear = () => {
    for (const statement of statements.values()) statement.finalize();
    statements.clear();
  };
  connection.all = (sql, bindings, done) => {
    const cached = statements.get(sql);
    if (cached) return cached.all(bindings, done);
    const statement = connection.prepare(sql, (error) => {
      if (error) return done(error);
      if (statements.size === MAX_STATEMENTS) clear();
      statements.set(sql, statement);
      return statement.all(bindings, done);
    });
    return connection;
  };
  const close = connection.close.bind(connection);
  // SQLite cannot close a connection that has prepared statements.
  connection.close = (done) => {
    clear();
    close(done);
  };
}
