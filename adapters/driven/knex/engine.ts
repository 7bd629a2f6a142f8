import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Plant, type RawTexts, TEXT_FIELDS } from '../../../core/index.js';
import type { SchemaState } from './migrations.js';

/** Pause before a retry, in milliseconds. */
const RETRY_PAUSE_MS = 10;

/** A row, with its id as decimal text. */
export type PlantRow = RawTexts & { readonly id: string };

/**
 * `busy`: a conflict with other statements, retry at once; `unavailable`: retry later; `rejected`: the engine rejects a
 * row of the statement; `repeated`: a statement of a migration has already run; `defect`: anything else.
 */
export type ErrorClass = 'busy' | 'unavailable' | 'rejected' | 'repeated' | 'defect';

/** The SQL, defaults and error codes of a SQL engine. `Database` describes how to connect to it. */
export interface Engine {
  /** The npm package of the driver; for SQLite, `sqlite3` or `node:sqlite`. */
  readonly driver: string;
  /**
   * The allowed parameters of a URL. In `tls=on|off ca=FILE max=NUMBER ssl={cert,key} user`, `tls` has two values, `ca` is
   * a file, `max` a number above 0, `ssl` a JSON object with these members, and `user` any string.
   */
  readonly urlParameters?: string;
  /** Default number of batches written concurrently; measured, see docs/decisions/0012-group-commit.md. */
  readonly maxWrites: number;
  /** SQL that converts decimal text, bound to its `?`, to an id. */
  readonly textToIdSql: string;
  /**
   * The statements of each migration, by name and in order. The database stores the names, so they never change. If DDL
   * commits implicitly, a statement may run again after a crash: use IF NOT EXISTS, or an error of the class `repeated`.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** The tables, with the columns that they need, as {@link columnsSql} describes them. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** SQL that describes, as `description`, each column of the table bound to its `?`: name, type and `primary key`. */
  readonly columnsSql: string;
  /** SQL of a small write that stores no plant. Its commit waits for everything that a plant's commit waits for. */
  readonly probeSql: string;
  /**
   * SQL that selects earlier probes that hang in the server; the probe is bound to its `?`. A commit may keep hanging
   * after its connection is closed. Absent for SQLite, whose writes cannot hang: it reports that it is busy.
   */
  readonly hangingProbesSql?: string;
  /** SQL that selects, as `setting`, each setting that lets the engine acknowledge a write before it is durable. */
  readonly nonDurableSettingsSql?: string;
  /** The first pattern that matches the {@link errorKey} determines the class. */
  readonly errorClasses: readonly (readonly [RegExp, ErrorClass])[];
  /** Reasons why the database cannot be opened, by error code, phrased to follow "cannot open …:". */
  readonly openErrorMessages: Readonly<Partial<Record<string, string>>>;

  /**
   * Inserts the plants whose id is free, and returns the others. `plants` have distinct, ascending ids. Resolves once
   * the inserted plants, and the holders of the taken ids, are durable. An engine may make a holder visible before it
   * is durable, and a statement that writes nothing does not wait for a sync.
   */
  insert(knex: Knex, plants: readonly Plant[]): Promise<readonly Plant[]>;
  /** Selects the rows that meet a condition in SQL, ascending by id. `ids` are bound to it, as decimal text. */
  select(knex: Knex, condition: string, ids: readonly string[]): Promise<readonly PlantRow[]>;
  /** Runs `work` while holding a lock that other starting instances wait for. It is released if the process dies. */
  withMigrationLock<T>(transaction: Knex.Transaction, work: () => Promise<T>): Promise<T>;
  /** Moves a new schema, and otherwise as much as possible, from the write-ahead log to the database file. */
  checkpoint?(knex: Knex, schema: SchemaState): Promise<void>;
  /** Throws StorageUnavailable if another program damaged the files. Runs before and after each statement. */
  assertFilesIntact?(): void;
  /** Returns the key that {@link errorClasses} match. */
  errorKey(error: Error): string;
}

/**
 * A Knex or driver error, reduced to its code. Drops messages and stacks, because Knex puts the SQL with all values into
 * them, and drivers quote values.
 */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  /** The driver's code, such as `SQLITE_FULL`. */
  readonly code: string;

  constructor(error: unknown) {
    const code = toCode(error);
    super(`the storage reported ${code}`);
    this.code = code;
  }
}

/** Returns the code of a driver, system or Knex error. */
export function toCode(error: unknown): string {
  const { code, name }: { readonly code?: unknown; readonly name?: unknown } = Object(error);
  return `${code ?? name}`;
}

export function classifyError(engine: Engine, error: unknown): ErrorClass {
  if (!(error instanceof Error) || error instanceof TypeError) return 'defect';
  const key = engine.errorKey(error);
  return engine.errorClasses.find(([pattern]) => pattern.test(key))?.[1] ?? 'defect';
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(engine: Engine, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (classifyError(engine, error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(RETRY_PAUSE_MS);
    }
  }
}

/** Converts a plant to a row. */
export function toRow(plant: Plant): Readonly<Record<string, string | null>> {
  return Object.fromEntries([['id', `${plant.id}`], ...TEXT_FIELDS.map((field) => [field, plant[field] ?? null])]);
}

/** Implements `Engine.select`. `idToText` is SQL that converts the column `id` to decimal text. */
export function selectRows(idToText: string): Engine['select'] {
  return async (knex, condition, ids) =>
    knex('plants')
      .select(knex.raw(`${idToText} AS id`), ...TEXT_FIELDS)
      .whereRaw(condition, ids)
      .orderBy('plants.id');
}

/** Selects the rows that hold the ids of plants. */
export function selectHolders(knex: Knex, engine: Engine, plants: readonly Plant[]): Promise<readonly PlantRow[]> {
  const ids = plants.map(({ id }) => `${id}`);
  return engine.select(knex, `id IN (${ids.map(() => engine.textToIdSql)})`, ids);
}

/** Converts plants to one JSON text, so that a statement is the same for any number of them. */
export function toJsonRows(plants: readonly Plant[]): string {
  return JSON.stringify(plants.map((plant) => [`${plant.id}`, ...TEXT_FIELDS.map((field) => plant[field])]));
}

/** Returns SQL that inserts the rows of {@link toJsonRows}, which `elements` selects one by one as `value`. */
export function insertJsonRows(idType: string, elements: string): string {
  const texts = TEXT_FIELDS.map((_, index) => `value ->> ${index + 1}`);
  return `INSERT INTO plants (id, ${TEXT_FIELDS.join(', ')})
    SELECT CAST(value ->> 0 AS ${idType}), ${texts.join(', ')} FROM ${elements}`;
}

/** Describes the columns that the table of plants needs, as `Engine.columnsSql` does. */
export function plantColumns(idType: string, textType: string): readonly string[] {
  return [`id ${idType} primary key`, ...TEXT_FIELDS.map((field) => `${field} ${textType}`)];
}

/** Returns the plants whose ids are not among those of `excluded`. */
export function exclude(plants: readonly Plant[], excluded: readonly Pick<Plant | PlantRow, 'id'>[]): readonly Plant[] {
  if (excluded.length === plants.length) return [];
  const ids = new Set(excluded.map(({ id }) => `${id}`));
  return plants.filter(({ id }) => !ids.has(`${id}`));
}
