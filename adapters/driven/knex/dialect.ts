import type { Plant } from '@plant-store/core';
import type { Knex } from 'knex';

/** The SQL and the errors of an engine. */
export interface Dialect {
  /** SQL that converts decimal text, bound to its `?`, to an id. */
  readonly textToId: string;
  /** SQL that converts the column `id` to decimal text. */
  readonly idToText: string;
  /** SQL that selects the ids of a JSON array of decimal text, bound to its `?`. @default a `?` for each id */
  readonly jsonToIds?: string;
  /**
   * The statements of each migration, by name and in order. The database stores the names, so they never change. If
   * the engine commits DDL implicitly, a statement may run again after a crash.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** SQL that makes other starting instances wait until the transaction of the migrations ends. */
  readonly migrationLock?: string;
  /** SQL that runs at startup after the migrations. */
  readonly afterMigrations?: string;
  /** SQL of a write that stores no plant, and whose commit waits until every earlier commit is durable. */
  readonly syncWrite: string;
  /** SQL that is true if the engine undoes an insert of several rows when one of them fails. @default true */
  readonly undoesFailedInserts?: string;
  /** SQL that selects, as `setting`, each setting that lets the engine acknowledge a write before it is durable. */
  readonly nonDurableSettings?: string;
  /** Whether a transaction keeps reading what it read first, unless it locks the rows. @default false */
  readonly readsSnapshot?: boolean;
  /** `busy`: a conflict with other statements, retry at once; `rejected`: the engine rejects a row of the statement. */
  classify(error: unknown): 'busy' | 'rejected' | 'unavailable';
  /** Whether a statement of a migration failed because it ran before. @default false */
  isRepeated?(error: unknown): boolean;
  /**
   * Inserts the plants whose id is free, and returns the others. If the engine rejects a row, the caller's transaction
   * remains usable.
   * @param plants With distinct, ascending ids.
   */
  insertFree(knex: Knex, plants: readonly Plant[]): Promise<readonly Plant[]>;
}
