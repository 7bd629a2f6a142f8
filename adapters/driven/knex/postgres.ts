import type { Dialect } from './dialect.js';
import { toCode } from './failures.js';
import { insertJsonRows, toRow, withoutIds } from './rows.js';

const INSERT = `${insertJsonRows('BIGINT', 'json_array_elements(?)')}
  ON CONFLICT (id) DO NOTHING
  RETURNING CAST(id AS TEXT) AS id`;

/** PostgreSQL. */
export const postgres: Dialect = {
  textToId: 'CAST(? AS BIGINT)',
  idToText: 'CAST(id AS TEXT)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
  },
  // The key is "PLNT".
  migrationLock: `SELECT pg_advisory_xact_lock(${0x504c4e54})`,
  // Also waits until the synchronous standby, if any, has every earlier commit.
  commit: "SELECT pg_logical_emit_message(true, 'plant-store', '')",
  // client_min_messages=error hides cancelled waits for a standby. Reported even without a standby, because one may be added later.
  nonDurableSettings: `SELECT name || '=' || setting AS setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
       OR (name, setting) = ('client_min_messages', 'error')
       OR current_setting('synchronous_standby_names') <> ''
          AND (name, setting) IN (('synchronous_commit', 'local'), ('synchronous_commit', 'remote_write'))
    UNION ALL SELECT 'the table plants is not logged' FROM pg_class
      WHERE oid = 'plants'::regclass AND relpersistence <> 'p'`,
  failureAbortsTransaction: true,

  // By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  classify(error) {
    const code = toCode(error);
    if (/^(40|55P03)/.test(code)) return 'busy';
    return /^(22|23|44|54|P0001)/.test(code) ? 'rejected' : 'unavailable';
  },

  async insert(knex, plants) {
    const { rows } = await knex.raw(INSERT, [JSON.stringify(plants.map(toRow))]);
    return withoutIds(plants, rows);
  },
};
