import { readFileSync } from 'node:fs';
import { callbackify } from 'node:util';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';
import { assertCertificate, InvalidServerUrl, parseServerUrl, type ServerUrl } from './server-url.js';
import { endStalledConnection, type PostgresClient } from './standby.js';

const INSERT = `INSERT INTO plants (id, name, tag)
  SELECT id, name, tag FROM json_to_recordset(?) AS rows (id BIGINT, name TEXT, tag TEXT)`;

/** PostgreSQL. */
export const postgres: Dialect = {
  textToId: 'CAST(? AS BIGINT)',
  idToText: 'CAST(id AS TEXT)',
  jsonToIds: 'SELECT CAST(value AS BIGINT) FROM json_array_elements_text(?)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
  },
  // The key is "PLNT".
  migrationLock: `SELECT pg_advisory_xact_lock(${0x504c4e54})`,
  // The type of a domain is the type behind it.
  columns: `SELECT attname AS name, NOT (attnotnull OR typnotnull) AS nullable, atthasdef OR attidentity <> '' OR typdefault IS NOT NULL AS has_default,
      CASE typtype WHEN 'd' THEN format_type(typbasetype, typtypmod) ELSE format_type(atttypid, atttypmod) END AS type,
      EXISTS (SELECT 1 FROM pg_index WHERE indrelid = attrelid AND indisprimary
        AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1])) AS is_key
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = 'plants'::regclass AND attnum > 0`,
  types: { id: /^bigint$/, text: /^(text|character varying|(.*\.)?citext)$/ },
  // EUC_JP would store ¦ as ￤. SQL_ASCII stores bytes.
  faults: `SELECT 'the encoding of the database is ' || getdatabaseencoding() || ', not UTF8' AS finding
      WHERE getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII')
    UNION ALL SELECT 'row-level security hides rows' WHERE row_security_active(to_regclass('plants'))`,
  // A standby is read-only, too. A Unix socket has no address.
  readOnlyServer: `SELECT concat_ws(' ', 'the server', host(inet_server_addr()) || ':' || inet_server_port(), 'is read-only') AS finding
    WHERE current_setting('transaction_read_only') = 'on'`,
  // client_min_messages=error hides cancelled waits for a standby; one may be added later.
  nonDurableSettings: `SELECT name || '=' || setting AS finding FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
       OR (name, setting) = ('client_min_messages', 'error')
       OR current_setting('synchronous_standby_names') <> ''
          AND (name, setting) IN (('synchronous_commit', 'local'), ('synchronous_commit', 'remote_write'))
    UNION ALL SELECT 'the table plants is not logged' FROM pg_class
      WHERE oid = 'plants'::regclass AND relpersistence <> 'p'`,
  toInsert: (rows) => ({ sql: INSERT, bindings: [JSON.stringify(rows)] }),
  abortsTransactions: true,

  // The synchronous standby, if any, then has every earlier commit.
  sync: async (knex) => knex.raw("SELECT pg_logical_emit_message(true, 'plant-store', '')"),

  // The codes are SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  classify(error) {
    const { code } = toCodes(error);
    // Its detail, in any language, has the columns of the index: Key (id)=(1) already exists.
    if (code === '23505' && /\(id\)=/.test(Object(error).detail)) return 'duplicate';
    if (/^(40|55P03)/.test(code)) return 'busy';
    return /^(22|23|54|P0001)/.test(code) ? 'rejected' : 'unavailable';
  },
};

/** Parses the URL of a PostgreSQL server. @throws {InvalidServerUrl} */
export function parsePostgresUrl(text: string): ServerUrl {
  const parameters = `sslmode sslrootcert sslcert sslkey host port user password application_name options
    statement_timeout lock_timeout idle_in_transaction_session_timeout`;
  const url = parseServerUrl(text, parameters.split(/\s+/));
  // pg would read 30s as 30 ms.
  for (const [name, value] of Object.entries(url.settings))
    if (/(timeout|port)$/.test(name) && !/^\d+$/.test(value))
      throw new InvalidServerUrl(`${name} must consist of digits; times are in milliseconds`);
  // libpq's other modes verify less than Node does.
  if (!['disable', 'verify-full', 'no-verify'].includes(url.settings['sslmode'] ?? 'disable'))
    throw new InvalidServerUrl('sslmode must be disable, verify-full or no-verify');
  return url;
}

/** Returns Knex's settings for a PostgreSQL server. */
export function configurePostgres(urlSettings: ServerUrl['settings'], timeoutMs: number, max = 10): Knex.Config {
  const { sslmode, sslrootcert, sslcert, sslkey, ...settings } = urlSettings;
  const hasTls = sslmode === undefined ? (sslrootcert ?? sslcert ?? sslkey) !== undefined : sslmode !== 'disable';
  const ca = read('sslrootcert', sslrootcert);
  if (ca !== undefined) assertCertificate('sslrootcert', ca);
  const connection = {
    application_name: 'plant-store',
    statement_timeout: timeoutMs,
    ...settings,
    // Without this member, PGSSLMODE would decide.
    ssl: hasTls && {
      ca,
      cert: read('sslcert', sslcert),
      key: read('sslkey', sslkey),
      rejectUnauthorized: sslmode !== 'no-verify',
    },
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
  };
  const prepare = async (client: PostgresClient) => {
    endStalledConnection(client, timeoutMs);
    // A statement that would not see some rows fails.
    await client.query('SET row_security = off').catch((error) => {
      // Knex does not close it.
      client.connection.stream.destroy();
      throw error;
    });
  };
  return { connection, pool: { min: 0, max, idleTimeoutMillis: timeoutMs, afterCreate: callbackify(prepare) } };
}

/** Reads the file of a parameter. An error does not print its path, because it may be the key itself. */
function read(parameter: string, path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidServerUrl(`${parameter} cannot be read (${toCodes(error).code})`);
  }
}
