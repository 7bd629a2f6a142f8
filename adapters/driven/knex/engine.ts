import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isStorageUnavailable, type NewPlant, Plant } from '../../../core/index.js';

/** Pause before a retry, in milliseconds. */
const RETRY_PAUSE_MS = 10;

/** SQL for the bytes of a row's strings. */
export const TEXT_BYTES: string = Object.values({
  name: 'COALESCE(OCTET_LENGTH(name), 0)',
  tag: 'COALESCE(OCTET_LENGTH(tag), 0)',
} satisfies Record<Exclude<keyof NewPlant, 'id'>, string>).join(' + ');

/** The SQL and the errors of a SQL engine. `Database` describes how to connect to it. */
export interface Engine {
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches written concurrently; measured, see docs/decisions/0012-group-commit.md. @default 1 */
  readonly maxWrites?: number;
  /** The parameters that the URL of a server may have. */
  readonly urlParameters?: readonly string[];
  /** SQL that converts decimal text, bound to its `?`, to an id. */
  readonly textToId: string;
  /** SQL that converts the column `id` to decimal text. */
  readonly idToText: string;
  /**
   * The statements of each migration, by name and in order. The database stores the names, so they never change. Where
   * DDL commits implicitly, a statement may run again after a crash: use IF NOT EXISTS.
   */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** SQL that makes other starting instances wait until the transaction of the migrations ends. */
  readonly migrationLock?: string;
  /** SQL of a write that stores no plant, and whose commit waits until every earlier commit is durable. */
  readonly commit: string;
  /** SQL of the condition that an insert of several rows is undone if one of them fails. @default true */
  readonly undoesFailedInserts?: string;
  /** SQL that selects, as `setting`, each setting that lets the engine acknowledge a write before it is durable. */
  readonly nonDurableSettings?: string;
  /** `busy`: a conflict with other statements, retry at once; `rejected`: the engine rejects a row of the statement. */
  classify(error: unknown): 'busy' | 'rejected' | 'unavailable';
  /** Runs at startup, after the migrations. */
  prepare?(knex: Knex): Promise<void>;
  /** Inserts the plants whose id is free, and returns the others. `plants` have distinct, ascending ids. */
  insert(knex: Knex, plants: readonly Plant[]): Promise<readonly Plant[]>;
}

/** Returns the code of a driver, system or Knex error; messages may quote values. `node:sqlite` has SQLite's in `errcode`. */
export function toCode(error: unknown): string {
  const { code, name, errcode = '' } = Object(error);
  return `${code ?? name} ${errcode}`.trim();
}

/** Returns the first line of an error message, without the SQL that Knex puts before it. */
export function toReason(error: unknown): string {
  if (isStorageUnavailable(error)) return error.message;
  if (toCode(error) === 'KnexTimeoutError') return 'the server does not respond';
  const message = error instanceof Error ? error.message.replace(/^.* - /s, '') : '';
  return message.split('\n', 1)[0] || toCode(error);
}

/** Retries `work` while the engine reports that it is busy, for up to `timeoutMs` milliseconds. */
export async function retryWhileBusy<T>(engine: Engine, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (engine.classify(error) !== 'busy' || performance.now() > deadline) throw error;
      await setTimeout(RETRY_PAUSE_MS);
    }
  }
}

/** Returns the length of a plant's strings, in UTF-16 code units. */
export function textLength({ name, tag = '' }: Plant): number {
  const strings = { name, tag } satisfies Record<Exclude<keyof NewPlant, 'id'>, string>;
  return Object.values(strings).reduce((sum, { length }) => sum + length, 0);
}

/** Converts a plant to a row, with its id as decimal text, because drivers bind and read 64-bit integers inexactly. */
export function toRow({ id, name, tag }: Plant) {
  return { id: `${id}`, name, tag: tag ?? null } satisfies Record<keyof NewPlant, string | null>;
}

/**
 * Selects the rows that meet a condition in SQL, ascending by id, and validates them, because another program may have
 * written them. `ids` are bound to the condition.
 */
export async function selectRows(knex: Knex, engine: Engine, condition: string, ids: readonly bigint[]) {
  const columns = { id: knex.raw(engine.idToText), name: 'name', tag: 'tag' } satisfies Record<keyof NewPlant, unknown>;
  const rows: readonly ReturnType<typeof toRow>[] = await knex('plants')
    .select(columns)
    .whereRaw(condition, ids.map(String))
    .orderBy('plants.id');
  return rows.map(({ id, name, tag }) => {
    const newPlant = { id: BigInt(id), name, tag: tag ?? undefined } satisfies Required<NewPlant>;
    return { id: newPlant.id, ...Plant.from(newPlant) };
  });
}

/** Selects the rows that have the ids of plants. */
export function selectStored(knex: Knex, engine: Engine, plants: readonly Plant[]) {
  const ids = plants.map(({ id }) => id);
  return selectRows(knex, engine, `id IN (${ids.map(() => engine.textToId)})`, ids);
}

/** Returns SQL that inserts a JSON array of rows, whose elements the SQL `elements` selects as `value`. */
export function insertJsonRows(idType: string, elements: string): string {
  return `INSERT INTO plants (id, name, tag)
    SELECT CAST(value ->> 'id' AS ${idType}), value ->> 'name', value ->> 'tag' FROM ${elements}`;
}

/** Returns the plants whose ids are not among those of `excluded`. */
export function exclude(plants: readonly Plant[], excluded: readonly { id: unknown }[]): readonly Plant[] {
  if (excluded.length === plants.length) return [];
  const ids = new Set(excluded.map(({ id }) => `${id}`));
  return plants.filter(({ id }) => !ids.has(`${id}`));
}
