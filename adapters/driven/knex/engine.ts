import type { Knex } from 'knex';
import type { Plant } from '../../../core/index.js';
import type { SchemaState } from './migrations.js';
import type { PlantRow } from './rows.js';

/** The SQL, defaults and error codes of a SQL engine. `Database` describes how to connect to it. */
export interface Engine {
  /** The npm package of the driver; for SQLite, `sqlite3` or `node:sqlite`. */
  readonly driver: string;
  /** Default number of batches written concurrently; measured, see docs/decisions/0012-group-commit.md. */
  readonly maxWrites: number;
  /** The parameters of a URL that the driver may get: any string, the path of a readable file, or one of these strings. */
  readonly urlParameters?: Readonly<Record<string, 'any' | 'file' | readonly string[]>>;
  /** SQL that converts decimal text, bound to its `?`, to an id. */
  readonly textToId: string;
  /**
   * The statements of each migration, by name and in order. The database stores the names, so they never change. If DDL
   * commits implicitly, a statement may run again after a crash: use IF NOT EXISTS, or {@link repeatedMigration}.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** Matches the {@link errorKey} of a statement of a migration that has already run. */
  readonly repeatedMigration?: RegExp;
  /** The tables, with the columns that they need, as {@link columnsSql} describes them. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** SQL that describes, as `description`, each column of the table bound to its `?`: name, type and `primary key`. */
  readonly columnsSql: string;
  /** SQL of a small write that stores no plant. Its commit waits for everything that a plant's commit waits for. */
  readonly probe: string;
  /**
   * SQL that selects earlier probes that hang in the server; the probe is bound to its `?`. A commit may keep hanging
   * after its connection is closed. Absent for SQLite, whose writes cannot hang: it reports that it is busy.
   */
  readonly hangingProbes?: string;
  /** SQL that selects, as `setting`, each setting that lets the engine acknowledge a write before it is durable. */
  readonly nonDurableSettings?: string;
  /** The first pattern that matches the {@link errorKey} determines the class. */
  readonly errorClasses: readonly (readonly [RegExp, ErrorClass])[];
  /** Reasons why the database cannot be opened, by error code, phrased to follow "cannot open …:". */
  readonly openErrorMessages: Readonly<Partial<Record<string, string>>>;

  /**
   * Inserts the plants whose id is free, and returns the others. `plants` have distinct, ascending ids. Resolves once
   * the inserted plants, and the holders of the taken ids, are durable. An engine may show a holder before it is
   * durable, and a statement that writes nothing does not wait for a sync.
   */
  insert(knex: Knex, plants: readonly Plant[]): Promise<readonly Plant[]>;
  /** Selects the rows that meet a condition in SQL, ascending by id. `ids` are bound to it, as decimal text. */
  select(knex: Knex, condition: string, ids: readonly string[]): Promise<readonly PlantRow[]>;
  /** Runs `work` while holding a lock that other starting instances wait for. It is released if the process dies. */
  withMigrationLock<T>(transaction: Knex.Transaction, work: () => Promise<T>): Promise<T>;
  /** Moves a new schema, and otherwise as much as possible, from the write-ahead log to the database file. */
  checkpoint?(knex: Knex, schema: SchemaState, timeoutMs: number): Promise<void>;
  /**
   * Throws StorageUnavailable if another program damaged the files of the open database. Runs before and after each
   * statement; does nothing if the files were intact within the last `maxAgeMs` milliseconds.
   */
  assertFilesIntact?(maxAgeMs: number): void;
  /** Returns the key that {@link errorClasses} match. */
  errorKey(error: Error): string;
}

/**
 * `busy`: a conflict with other statements, retry at once; `unavailable`: retry later; `rejected`: the engine rejects a
 * row of the statement; `defect`: anything else.
 */
export type ErrorClass = 'busy' | 'unavailable' | 'rejected' | 'defect';
