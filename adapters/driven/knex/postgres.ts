import type { Dialect } from './dialect.js';
import { toCode } from './driver-errors.js';
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
  syncWrite: "SELECT pg_logical_emit_message(true, 'plant-store', '')",
  // client_min_messages=error hides cancelled waits for a standby. Reported even without a standby, because one may be added later.
  nonDurableSettings: `SELECT name || '=' || setting AS setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
       OR (name, setting) = ('client_min_messages', 'error')
       OR current_setting('synchronous_standby_names') <> ''
          AND (name, setting) IN (('synchronous_commit', 'local'), ('synchronous_commit', 'remote_write'))
    UNION ALL SELECT 'the table plants is not logged' FROM pg_class
      WHERE oid = 'plants'::regclass AND relpersistence <> 'p'`,

  // By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  classify(error) {
    const code = toCode(error);
    if (/^(40|55P03)/.test(code)) return 'busy';
    return /^(22|23|44|54|P0001)/.test(code) ? 'rejected' : 'unavailable';
  },

  async insertFree(knex, plants) {
    const insert = async () => {
      const { rows } = await knex.raw(INSERT, [JSON.stringify(plants.map(toRow))]);
      return withoutIds(plants, rows);
    };
    if (!knex.isTransaction) return insert();
    // A failure aborts a transaction, except within a savepoint. Knex's own savepoints wait for each other.
    await knex.raw('SAVEPOINT plants');
    try {
      return await insert();
    } catch (error) {
      await knex.raw('ROLLBACK TO SAVEPOINT plants');
      throw error;
    } finally {
      await knex.raw('RELEASE SAVEPOINT plants');
    }
  },
};
