import type { Knex } from 'knex';
import type { Plant } from '../../core/index.js';

/** A row as every engine hands it over: the id as decimal text, because drivers round or retype a BIGINT. */
export interface PlantRow {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/** All that differs between SQL engines. One small file implements it for each. */
export interface Engine {
  /**
   * Inserts, in one durable statement, those plants whose id is free, and returns the ids that it inserted.
   *
   * @param plants no id twice
   */
  insert(knex: Knex, plants: readonly Plant[]): Promise<readonly { readonly id: string }[]>;

  /** The rows that hold these ids. */
  find(knex: Knex, ids: readonly bigint[]): Promise<readonly PlantRow[]>;

  /** The first `rowsMax` rows with an id of at least `from`, ascending by id. */
  page(knex: Knex, from: bigint, rowsMax: number): Promise<readonly PlantRow[]>;

  /** Makes other starting instances wait until `transaction` ends, so that one of them migrates. */
  lockMigrations(transaction: Knex.Transaction): Promise<void>;

  /** Creates the table of plants. */
  createTable(transaction: Knex): Promise<void>;

  /** What a driver's error means. */
  diagnose(error: unknown): Diagnosis;
}

/**
 * `busy`: others are in the way, try again at once; `unavailable`: try again later; `refused`: a row of the statement is
 * not accepted; `defect`: anything else.
 */
export type Diagnosis = 'busy' | 'unavailable' | 'refused' | 'defect';
