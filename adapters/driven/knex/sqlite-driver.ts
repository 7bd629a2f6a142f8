/** How a file is opened (https://sqlite.org/uri.html): for writing, for reading, or for reading without locks and log. */
export type FileMode = 'rw' | 'ro' | 'immutable';

/** A row, by column. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** A SQLite driver. Its errors, and those of its connections, have a `code` such as `SQLITE_BUSY`. */
export interface SqliteDriver {
  readonly name: string;
  open(path: string, mode: FileMode): Promise<SqliteConnection>;
}

/** A connection to a SQLite file. */
export interface SqliteConnection {
  /** Runs one statement, keeps it prepared, and returns its rows. */
  all(sql: string, bindings?: readonly unknown[]): Promise<readonly SqliteRow[]>;
  /** Runs several statements. */
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
  /** Makes SQLite keep the file open until the process exits, and never copy the write-ahead log to it. */
  leaveOpen(): Promise<void>;
}

/** Maximum number of prepared statements of a connection. */
export const MAX_STATEMENTS = 16;
