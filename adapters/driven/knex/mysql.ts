import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';
import { assertCertificate, InvalidServerUrl, parseServerUrl } from './server-url.js';

// The SQLSTATE of these errors is general, so the number decides (https://mariadb.com/kb/en/mariadb-error-code-reference/).
/** A row or a table has changed since it was read, also by another node of a cluster (3101: found at COMMIT). */
const BUSY = [1020, 1050, 1412, 3101];
/** A type, character set, expression, partition, trigger, index or CHECK rejects a row. */
const REJECTED = [1265, 1366, 1411, 1526, 1644, 3751, 3819];

/** MySQL and MariaDB, including Galera clusters. */
export const mysql: Dialect = {
  textToId: 'CAST(? AS SIGNED)',
  idToText: 'CAST(id AS CHAR)',
  migrations: {
    // Binary collation: 'a' and 'A ' differ. LONGTEXT: TEXT is limited to 64 KiB.
    '001_plants': [
      `CREATE TABLE IF NOT EXISTS plants (
       id BIGINT PRIMARY KEY,
       name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
       tag LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
     ) ENGINE = InnoDB`,
    ],
    '002_log_syncs': [
      'CREATE TABLE IF NOT EXISTS plant_store_log_syncs (id TINYINT PRIMARY KEY, syncs BIGINT NOT NULL) ENGINE = InnoDB',
    ],
  },
  columns: `SELECT LOWER(column_name) AS name, CONCAT_WS(' ', column_type, character_set_name) AS type,
      is_nullable = 'YES' AS nullable, column_key = 'PRI' AS is_key,
      column_default IS NOT NULL OR extra REGEXP 'auto_increment|GENERATED' OR data_type = 'enum' AS has_default
    FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'plants'`,
  // Other types for text are shorter than the default BODY_LIMIT.
  types: { id: /^bigint(\(\d+\))?$/, text: /^(medium|long)text\b.* utf8mb4$/ },
  // After a crash, a server with a binary log keeps only the transactions recorded in it. MariaDB skips `/*!80021`.
  nonDurableSettings: `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit) AS finding
      FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1
    UNION ALL SELECT CONCAT('sync_binlog=', @@sync_binlog) FROM DUAL WHERE @@log_bin AND @@sync_binlog <> 1
    UNION ALL SELECT CONCAT('engine of the table plants: ', engine) FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name = 'plants' AND engine <> 'InnoDB'
    /*!80021 UNION ALL SELECT 'the redo log is disabled' FROM performance_schema.global_status
      WHERE variable_name = 'Innodb_redo_log_enabled' AND variable_value = 'OFF' */`,
  // An enum since MariaDB 12.
  readOnlyServer: `SELECT CONCAT('the server ', @@hostname, ':', @@port, ' is read-only') AS finding FROM DUAL
    WHERE @@read_only NOT IN ('0', 'OFF')`,
  readsSnapshot: true,

  toInsert: (rows, knex) => knex('plants').insert(rows).toSQL().toNative(),

  // One of several rows, because a transaction of a caller may keep its row locked.
  sync: async (knex) =>
    knex.raw(`INSERT INTO plant_store_log_syncs (id, syncs) VALUES (CONNECTION_ID() % 128, 1)
      ON DUPLICATE KEY UPDATE syncs = syncs + 1`),

  // The names that the driver gives are wrong for MariaDB.
  classify(error) {
    const { sqlState = '', errno = 0 } = toCodes(error);
    if (sqlState.startsWith('40') || BUSY.includes(errno)) return 'busy';
    return /^(22|23|45)/.test(sqlState) || REJECTED.includes(errno) ? 'rejected' : 'unavailable';
  },
};

/** Parses the URL of a MySQL or MariaDB server. @throws {InvalidServerUrl} */
export function parseMysqlUrl(text: string) {
  const { name, settings } = parseServerUrl(text, ['ssl', 'socketPath', 'localAddress']);
  const { ssl, host = '' } = settings;
  if (ssl === undefined) return { name, settings };
  let tls: unknown;
  try {
    tls = JSON.parse(ssl);
  } catch {}
  if (!(tls instanceof Object)) throw new InvalidServerUrl('ssl must be a percent-encoded JSON object');
  if ('ca' in tls) assertCertificate('ca', tls.ca);
  if ('verifyIdentity' in tls && tls.verifyIdentity && isIP(host))
    throw new InvalidServerUrl('verifyIdentity needs a host name, because mysql2 does not compare IP addresses');
  return { name, settings: { ...settings, ssl: tls } };
}

/** The part of the driver's connection that is used here. */
interface MysqlConnection {
  readonly stream: Socket;
  promise(): { query(sql: string): Promise<unknown> };
  destroy(): void;
}

/** Returns Knex's settings for a MySQL or MariaDB server. */
export function configureMysql(settings: object, timeoutMs: number, max = 10): Knex.Config {
  const prepare = (connection: MysqlConnection) =>
    prepareSession(connection, timeoutMs).catch((error) => {
      // Knex does not close it.
      connection.destroy();
      throw error;
    });
  return {
    connection: { ...settings, charset: 'utf8mb4', connectTimeout: timeoutMs },
    pool: { min: 0, max, idleTimeoutMillis: timeoutMs, afterCreate: callbackify(prepare) },
  };
}

async function prepareSession(connection: MysqlConnection, timeoutMs: number): Promise<void> {
  const seconds = Math.ceil(timeoutMs / 1000);
  // If packets are lost, TCP notices after about 15 minutes. Without an error, which mysql2 would throw after the pool
  // has closed the connection.
  connection.stream.setTimeout(timeoutMs + 1000, () => connection.stream.destroy());
  const session = connection.promise();
  // The server's defaults, or its init_connect, may leave a transaction open, let it see what is not committed, or set
  // another character set.
  await session.query('ROLLBACK AND NO CHAIN NO RELEASE');
  await session.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  // Strict mode rejects strings instead of truncating them. Only MariaDB has max_statement_time. On MySQL, statements
  // that wait for a lock on the table (by default, for a year) would pile up.
  await session.query(
    `SET NAMES utf8mb4, SESSION autocommit = 1, completion_type = 'NO_CHAIN', default_storage_engine = InnoDB,
     sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO',
     innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds} /*M! , max_statement_time = ${seconds} */`,
  );
  // On a Galera cluster, reads wait for the commits of all nodes. MySQL does not know this variable (1193).
  await session.query('SET SESSION wsrep_sync_wait = 1').catch((error) => {
    if (error.errno !== 1193) throw error;
  });
}
