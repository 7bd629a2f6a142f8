import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Database, Statement } from 'sqlite3';
import { MAX_STATEMENTS, type SqliteConnection, type SqliteDriver, type SqliteRow } from './sqlite-driver.js';

/** Connections that stay open until the process exits: closing them, also as garbage, would copy the log. */
const leftOpen = new Set<Connection>();

/** Returns the driver on the package `sqlite3`, which runs statements on the threads of libuv. */
export function sqlite3Driver({ Database, OPEN_READWRITE, OPEN_URI }: typeof import('sqlite3')): SqliteDriver {
  return {
    name: 'sqlite3',
    open: (path, mode) =>
      new Promise((resolve, reject) => {
        const uri = `${pathToFileURL(path)}?${mode === 'immutable' ? 'immutable=1' : `mode=${mode}`}`;
        const database = new Database(uri, OPEN_READWRITE | OPEN_URI, (error) =>
          error ? reject(error) : resolve(new Connection(database)),
        );
      }),
  };
}

class Connection implements SqliteConnection {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  async all(sql: string, bindings: readonly unknown[] = []): Promise<readonly SqliteRow[]> {
    const statement = this.#statements.get(sql) ?? (await this.#prepare(sql));
    return new Promise((resolve, reject) => {
      // SQLite keeps a statement that was busy active, and commits no other write until it is reset.
      statement.all<SqliteRow>(bindings, (error, rows) =>
        error ? statement.reset(() => reject(error)) : resolve(rows),
      );
    });
  }

  #prepare(sql: string): Promise<Statement> {
    return new Promise((resolve, reject) => {
      const statement = this.#database.prepare(sql, (error) => {
        if (error) return reject(error);
        if (this.#statements.size === MAX_STATEMENTS) this.#finalizeStatements();
        this.#statements.set(sql, statement);
        resolve(statement);
      });
    });
  }

  exec(sql: string): Promise<void> {
    return promisify<string, void>(this.#database.exec.bind(this.#database))(sql);
  }

  close(): Promise<void> {
    // SQLite cannot close a connection that has prepared statements.
    this.#finalizeStatements();
    return promisify<void>(this.#database.close.bind(this.#database))();
  }

  async leaveOpen(): Promise<void> {
    leftOpen.add(this);
  }

  #finalizeStatements(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }
}
