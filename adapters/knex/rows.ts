import type { Knex } from 'knex';
import type { Plant } from '../../core/index.js';
import type { Engine } from './engine.js';

/** Maximum number of rows per page. */
const MAX_PAGE_ROWS = 4000;
/** Maximum text per page, in UTF-8 bytes; the last plant may exceed it. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** A row, with its id as decimal text. */
export interface PlantRow {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/** Implements `Engine.select`. `idToText` is SQL that converts the column `id` to decimal text. */
export function selectRows(idToText: string): Engine['select'] {
  return async (knex, condition, ids) =>
    knex('plants')
      .select(knex.raw(`${idToText} AS id`), 'name', 'tag')
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
  return JSON.stringify(plants.map(({ id, name, tag }) => [`${id}`, name, tag]));
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
      SELECT id, OCTET_LENGTH(name) + COALESCE(OCTET_LENGTH(tag), 0) AS bytes
      FROM plants WHERE id >= ${textToId} ORDER BY id LIMIT ${MAX_PAGE_ROWS}
    )
    SELECT CASE WHEN SUM(bytes) < ${MAX_PAGE_BYTES} THEN MAX(id) ELSE (
      SELECT MAX(id) FROM (
        SELECT id, SUM(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before FROM sized
      ) AS page WHERE bytes_before < ${MAX_PAGE_BYTES}
    ) END FROM sized`;
}
