import { type NewPlant, Plant, type PlantId } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect, Row } from './dialect.js';

/** Maximum number of rows per statement, written or read. */
const MAX_ROWS = 4000;
/** Maximum text of these rows, in UTF-16 code units; when read, the last one may exceed it, in UTF-8 bytes. */
const MAX_TEXT = 1024 * 1024;

/** The columns of strings. */
export const TEXTS = { name: 'name', tag: 'tag' } satisfies Record<keyof Omit<NewPlant, 'id'>, string>;

/** SQL of the size of a row's text, in bytes. */
const BYTES = Object.values(TEXTS)
  .map((column) => `COALESCE(OCTET_LENGTH(${column}), 0)`)
  .join(' + ');

/** A row read from the table. */
export interface StoredRow {
  readonly id: PlantId;
  /** `undefined` if the row, which another program has written, is not a valid plant. */
  readonly plant: Plant | undefined;
}

/** Converts a plant to a row. */
export function toRow({ id, name, tag }: Plant) {
  return { id: `${id}`, name, tag: tag ?? null } satisfies Row;
}

/** Returns whether one statement can insert the plants. */
export function fitsStatement(plants: readonly Plant[]): boolean {
  if (plants.length === 1) return true;
  let text = 0;
  for (const { name, tag = '' } of plants) text += name.length + tag.length;
  return plants.length <= MAX_ROWS && text <= MAX_TEXT;
}

/** Selects the rows that meet a condition in SQL with bindings, ascending by id. */
export async function selectRows(
  knex: Knex,
  { idToText }: Dialect,
  condition: string,
  bindings: readonly (PlantId | string)[] = [],
  isLocking = false,
): Promise<readonly StoredRow[]> {
  const columns = { id: knex.raw(idToText), ...TEXTS } satisfies Record<keyof NewPlant, unknown>;
  const query = knex('plants').select(columns).whereRaw(condition, bindings.map(String)).orderBy('plants.id');
  if (isLocking) query.forShare();
  const rows: readonly ReturnType<typeof toRow>[] = await query;
  return rows.map(({ id, name, tag }) => {
    const newPlant = { id: BigInt(id), name, tag: tag ?? undefined } satisfies Required<NewPlant>;
    const result = Plant.from(newPlant);
    return { id: newPlant.id, plant: result.kind === 'valid' ? result.plant : undefined };
  });
}

/** Selects the rows that have the ids of plants, in a transaction also those committed after its first read. */
export function selectStored(knex: Knex, dialect: Dialect, plants: readonly Plant[]): Promise<readonly StoredRow[]> {
  const { jsonToIds, textToId, readsSnapshot } = dialect;
  const ids = plants.map(({ id }) => `${id}`);
  const bindings = jsonToIds === undefined ? ids : [JSON.stringify(ids)];
  const condition = `id IN (${jsonToIds ?? ids.map(() => textToId)})`;
  return selectRows(knex, dialect, condition, bindings, knex.isTransaction && readsSnapshot);
}

/** Selects the first rows from an id on. The size of their text is limited, too, because names may have megabytes. */
export function selectPage(knex: Knex, dialect: Dialect, from: PlantId, limit: number): Promise<readonly StoredRow[]> {
  const lastId = `SELECT MAX(id) FROM (
      SELECT id, SUM(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM (
        SELECT id, ${BYTES} AS bytes
        FROM plants WHERE id >= ${dialect.textToId} ORDER BY id LIMIT ${Math.min(limit, MAX_ROWS)}
      ) AS sized
    ) AS page WHERE bytes_before < ${MAX_TEXT}`;
  return selectRows(knex, dialect, `id BETWEEN ${dialect.textToId} AND (${lastId})`, [from, from]);
}
