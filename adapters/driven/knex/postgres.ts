import type { Socket } from 'node:net';
import { type Engine, exclude, insertJsonRows, plantColumns, selectRows, toJsonRows } from './engine.js';
import type { Database } from './open.js';
import { type DatabaseServerOptions, destroyWhenIdle, parseNumberParameter, serverDatabase } from './server.js';

/** Key of the advisory lock: "PLNT". */
const MIGRATION_LOCK_KEY = 0x504c4e54;

const INSERT = `${insertJsonRows('BIGINT', 'json_array_elements(?)')}
  ON CONFLICT (id) DO NOTHING
  RETURNING CAST(id AS TEXT) AS id`;

/**
 * Commits an empty message, which waits until the synchronous standby, if any, has every earlier commit: after a crash
 * or a cancelled wait, a row is visible before the standby has it.
 */
const WAIT_FOR_STANDBY = `SELECT pg_logical_emit_message(true, 'plant-store', '')
  WHERE current_setting('synchronous_standby_names') <> ''`;

/** PostgreSQL. */
export const postgres: Engine = {
  driver: 'pg',
  maxWrites: 2,
  urlParameters: `sslmode=disable|no-verify|prefer|require|verify-ca|verify-full sslrootcert=FILE sslcert=FILE sslkey=FILE
    host port user password application_name options connect_timeout=NUMBER statement_timeout lock_timeout
    idle_in_transaction_session_timeout max=NUMBER`,
  textToIdSql: 'CAST(? AS BIGINT)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
  },
  tables: { plants: plantColumns('bigint', 'text') },
  columnsSql: `SELECT attname || ' ' || format_type(atttypid, NULL) || CASE WHEN indisprimary THEN ' primary key' ELSE '' END
      AS description
    FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary AND indnatts = 1 AND indkey[0] = attnum
    WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped`,
  probeSql: "SELECT pg_logical_emit_message(true, 'plant-store', 'probe')",
  hangingProbesSql: `SELECT pid FROM pg_stat_activity WHERE query = ? AND state = 'active' AND datname = current_database()
    AND query_start < clock_timestamp() - INTERVAL '1 second'`,
  // client_min_messages=error hides cancelled waits for a standby. Reported even without one: it may be added later.
  nonDurableSettingsSql: `SELECT name || '=' || setting AS setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
       OR (name, setting) = ('client_min_messages', 'error')
       OR current_setting('synchronous_standby_names') <> ''
          AND (name, setting) IN (('synchronous_commit', 'local'), ('synchronous_commit', 'remote_write'))`,
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  errorClasses: [
    [/^40/, 'busy'],
    // 42: a table or column is missing or foreign, or a privilege. The statements themselves never change.
    [/^(08|25006|28|3D000|42|53|55|57|58|XX001|XX002)/, 'unavailable'],
    [/^(22|23|44|54|P0001)/, 'rejected'],
  ],
  openErrorMessages: {
    '25006': 'the server is read-only',
    '28000':
      'this user does not exist or may not connect; check the user and pg_hba.conf, which may require TLS (sslmode)',
    '28P01': 'wrong user or password',
    '3D000': 'the database does not exist; create it first',
    '42501':
      'this user may not create or use the tables in the schema; make it the owner of the database and its tables',
    '53300': 'the server has too many connections',
    '08P01':
      'the pooler rejects the connection; check its server, and set pool_mode = transaction and ignore_startup_parameters = statement_timeout in pgbouncer',
    'The server does not support SSL connections':
      'the server does not support TLS; enable it there, or remove sslmode',
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string':
      'the server requires a password; add it to the URL, or to the file that PGPASSFILE names',
    Error: 'the server did not respond in time, or closed the connection; check the address and the port',
  },

  async insert(knex, plants) {
    const { rows } = await knex.raw(INSERT, [toJsonRows(plants)]);
    // An insert that added a row has already waited.
    if (rows.length === 0) await knex.raw(WAIT_FOR_STANDBY);
    return exclude(plants, rows);
  },

  select: selectRows('CAST(id AS TEXT)'),

  async withMigrationLock(transaction, work) {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK_KEY]);
    return work();
  },

  // An error without SQLSTATE comes from the connection.
  errorKey: (error) => ('severity' in error && 'code' in error ? `${error.code}` : '08000'),
};

/**
 * Describes a PostgreSQL database for `openRepository`. The parameters of the URL are those of libpq and pg, such as
 * `sslmode`, `sslrootcert`, `connect_timeout` (seconds), `statement_timeout` (milliseconds) and `max` (connections).
 */
export function postgresDatabase(options: DatabaseServerOptions): Database {
  const { url, timeoutMs } = options;
  const uri = new URL(url);
  const connection = {
    connectionString: url,
    application_name: 'plant-store',
    keepAlive: true,
    statement_timeout: timeoutMs,
    connectionTimeoutMillis: 1000 * parseNumberParameter(uri, 'connect_timeout', timeoutMs / 1000),
  };
  return serverDatabase(options, postgres, connection, {
    max: parseNumberParameter(uri, 'max', 10),
    async configure(client: Client) {
      destroyWhenIdle(client.connection.stream, timeoutMs);
      checkResults(client);
    },
  });
}

/**
 * Fails a statement whose wait for a synchronous standby was cancelled. PostgreSQL reports success and a warning, which
 * is identified by the server function that raised it: its text is translated, and its SQLSTATE is not specific.
 * Ends a read-only session, because it would stay read-only after its default, `default_transaction_read_only`, changes.
 */
function checkResults(client: Client): void {
  let isCancelled = false;
  client.on('notice', ({ routine }) => {
    isCancelled ||= routine === 'SyncRepWaitForLSN';
  });
  const cancelled = Object.assign(new Error('the wait for the standby was cancelled'), {
    code: 'STANDBY_WAIT_CANCELLED',
  });
  const query = client.query.bind(client);
  client.query = (statement, done) => {
    isCancelled = false;
    return query(statement, (error, result) => {
      if (error?.code === '25006') client.end(() => {});
      done(error ?? (isCancelled ? cancelled : null), result);
    });
  };
}

/** The part of the driver's client that is used here. */
interface Client {
  readonly connection: { readonly stream: Socket };
  on(event: 'notice', listener: (notice: { readonly routine: string | undefined }) => void): unknown;
  query(statement: unknown, done: (error: (Error & { code?: string }) | null, result?: unknown) => void): unknown;
  end(done: () => void): void;
}
