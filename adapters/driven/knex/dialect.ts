import type { NewPlant } from '@plant-store/core';
import type { Knex } from 'knex';

/** A row of the table `plants`. Its id is decimal text, because drivers bind and read 64-bit integers inexactly. */
export type Row = Readonly<Record<keyof NewPlant, string | null>>;

/** The SQL and the errors of an engine. */
export interface Dialect {
  /** SQL that converts decimal text, bound to its `?`, to an id. */
  readonly textToId: string;
  /** SQL that converts the column `id` to decimal text. */
  readonly idToText: string;
  /** SQL that selects the ids of a JSON array of decimal text, bound to its `?`. @default a `?` for each id */
  readonly jsonToIds?: string;
  /**
   * The statements of each migration, by name and in order. The database stores the names, so they never change. On
   * MySQL, which commits each statement, they may run again, after a crash or on another instance.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** SQL that makes other starting instances wait until the transaction of the migrations ends. */
  readonly migrationLock?: string;
  /** SQL that runs at startup after the migrations. */
  readonly afterMigrations?: string;
  /** SQL that selects `name`, `type`, `nullable`, `has_default` and `is_key` of each column of the table `plants`. */
  readonly columns: string;
  /** The types that keep every id, and every name and tag. */
  readonly types: Readonly<Record<'id' | 'text', RegExp>>;
  /** SQL that selects, as `finding`, each other reason why the table cannot keep every plant. */
  readonly faults?: string;
  /** SQL that selects, as `finding`, which server responds, if it is read-only, as behind a proxy that points to a standby. */
  readonly readOnlyServer?: string;
  /** SQL that selects, as `finding`, each setting that lets the engine acknowledge a write before it is durable. */
  readonly nonDurableSettings?: string;
  /** Whether a transaction keeps reading what it read first, unless it locks the rows. @default false */
  readonly readsSnapshot?: boolean;
  /** Commits a small write that stores no plant. The commit waits until every earlier one is durable. */
  sync(knex: Knex): Promise<unknown>;
  /** Returns a statement that inserts all rows or, if it fails, none. */
  toInsert(rows: readonly Row[], knex: Knex): Knex.SqlNative;
  /** Whether a statement that fails aborts its transaction, except within a savepoint. @default false */
  readonly abortsTransactions?: boolean;
  /**
   * `busy`: a conflict with other statements, retry at once; `rejected`: the engine rejects a row of the statement,
   * perhaps because its id is in use; `duplicate`: the id is in use, perhaps by a row that a transaction does not see;
   * `fileError`: the engine cannot read or write its file, and its connection is still the best to go on.
   */
  classify(error: unknown): 'busy' | 'rejected' | 'duplicate' | 'fileError' | 'unavailable';
}
