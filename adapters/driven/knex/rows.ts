import type { Knex } from 'knex';
import { type Plant, type RawTexts, TEXT_FIELDS } from '../../../core/index.js';
import type { Engine } from './engine.js';

/** Maximum number of rows per page. */
const MAX_PAGE_ROWS = 4000;
/** Maximum text per page, in UTF-8 bytes; the last plant may exceed it. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** A row, with its id as decimal text. */
export type PlantRow = RawTexts & { readonly id: string };

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
  return engine.select(knex, `id IN (${ids.map(() => engine.textToId)})`, ids);
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

/** Returns SQL for the last id of the page that starts at the id bound to its `?`. */
export function lastIdOfPage(textToId: string): string {
  // Reads sizes only, not texts. If all rows fit, a plain SUM shows this in a quarter of the time of a running sum.
  return `WITH sized AS (
      SELECT id, ${TEXT_FIELDS.map((field) => `COALESCE(OCTET_LENGTH(${field}), 0)`).join(' + ')} AS bytes
      FROM plants WHERE id >= ${textToId} ORDER BY id LIMIT ${MAX_PAGE_ROWS}
    )
    SELECT CASE WHEN SUM(bytes) < ${MAX_PAGE_BYTES} THEN MAX(id) ELSE (
      SELECT MAX(id) FROM (
        SELECT id, SUM(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM sized
      ) AS page WHERE bytes_before < ${MAX_PAGE_BYTES}
    ) END FROM sized`;
}
