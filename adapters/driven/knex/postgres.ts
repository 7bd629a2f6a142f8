import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type Engine, exclude, insertJsonRows, toCode, toRow } from './engine.js';
import type { Database } from './open.js';
import { type DatabaseServerOptions, destroyWhenStalled, serverDatabase } from './server.js';

const INSERT = `${insertJsonRows('BIGINT', 'json_array_elements(?)')}
  ON CONFLICT (id) DO NOTHING
  RETURNING CAST(id AS TEXT) AS id`;

/** Commits an empty message, which waits until the synchronous standby, if any, has every earlier commit. */
const COMMIT = "SELECT pg_logical_emit_message(true, 'plant-store', '')";

/** PostgreSQL. */
export const postgres: Engine = {
  driver: 'pg',
  maxWrites: 2,
  urlParameters: `sslmode sslrootcert sslcert sslkey host port user password application_name options
    statement_timeout lock_timeout idle_in_transaction_session_timeout`.split(/\s+/),
  textToId: 'CAST(? AS BIGINT)',
  idToText: 'CAST(id AS TEXT)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
  },
  probe: COMMIT,
  // The key is "PLNT".
  migrationLock: `SELECT pg_advisory_xact_lock(${0x504c4e54})`,
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
    if (/^40/.test(toCode(error))) return 'busy';
    return /^(22|23|44|54|P0001)/.test(toCode(error)) ? 'rejected' : 'unavailable';
  },

  async insert(knex, plants) {
    const { rows } = await knex.raw(INSERT, [JSON.stringify(plants.map(toRow))]);
    // After a crash or a cancelled wait, a row is visible before the standby has it. An insert of a row has waited.
    if (rows.length === 0) await knex.raw(`${COMMIT} WHERE current_setting('synchronous_standby_names') <> ''`);
    return exclude(plants, rows);
  },
};

/** Describes a PostgreSQL database for `openRepository`. The parameters of the URL are those of libpq and pg. */
export function postgresDatabase(options: DatabaseServerOptions): Database {
  const { url, timeoutMs } = options;
  const connection = {
    connectionString: url,
    application_name: 'plant-store',
    keepAlive: true,
    statement_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  };
  return serverDatabase(options, postgres, connection, async ({ connection }: Client, cancel) => {
    destroyWhenStalled(connection.stream, timeoutMs, cancel);
    connection.on('notice', ({ routine }) => {
      // A cancelled wait for the standby: a success with a warning, known by the function of the server that raised it.
      if (routine === 'SyncRepWaitForLSN')
        connection.emit('error', new Error('the wait for the standby was cancelled'));
    });
    // A session stays read-only after its default, `default_transaction_read_only`, changes.
    connection.on('errorMessage', ({ code }) => code === '25006' && connection.stream.end());
  });
}

/** The part of the driver's client that is used here. */
interface Client {
  readonly connection: EventEmitter & { readonly stream: Socket };
}
