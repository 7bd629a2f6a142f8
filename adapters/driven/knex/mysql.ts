import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { StorageUnavailable } from '../../../core/index.js';
import { type Engine, exclude, plantColumns, selectHolders, selectRows, toCode, toRow } from './engine.js';
import type { Database } from './open.js';
import { type DatabaseServerOptions, destroyWhenIdle, parseNumberParameter, serverDatabase } from './server.js';

/** Maximum number of attempts to insert a batch while other instances keep taking its ids. */
const MAX_INSERT_ATTEMPTS = 10;

/**
 * A small write whose commit waits until the redo log, with the holders' rows, is synced: InnoDB makes a row visible
 * before that. On Galera, a row is durable before it is visible, so the statement changes nothing there, which saves a round
 * trip to the other nodes.
 */
const WAIT_FOR_LOG = `INSERT INTO plant_store_log_syncs (id, syncs) VALUES (1, 1)
  ON DUPLICATE KEY UPDATE syncs = syncs + IF(@plant_store_on_galera, 0, 1)`;

/**
 * MySQL and MariaDB, including Galera clusters. MySQL has no RETURNING, and INSERT IGNORE hides other errors. So each
 * batch is one plain insert; if an id is taken, the engine rolls it back, and the rest of the batch is retried.
 */
export const mysql: Engine = {
  driver: 'mysql2',
  maxWrites: 1,
  // https://nodejs.org/api/tls.html#tlscreatesecurecontextoptions
  urlParameters: `ssl={ca,cert,key,passphrase,pfx,ciphers,minVersion,maxVersion,rejectUnauthorized,verifyIdentity}
    connectTimeout=NUMBER connectionLimit=NUMBER socketPath compress localAddress`,
  textToIdSql: 'CAST(? AS SIGNED)',
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
  tables: {
    plants: plantColumns('bigint', 'longtext'),
    plant_store_log_syncs: ['id tinyint primary key', 'syncs bigint'],
  },
  columnsSql: `SELECT CONCAT(column_name, ' ', data_type, IF(column_key = 'PRI', ' primary key', '')) AS description
    FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?`,
  probeSql: 'INSERT INTO plant_store_log_syncs (id, syncs) VALUES (2, 1) ON DUPLICATE KEY UPDATE syncs = syncs + 1',
  hangingProbesSql: 'SELECT id FROM information_schema.processlist WHERE info = ? AND db = DATABASE() AND time > 0',
  // After a crash, a server with a binary log keeps only the transactions recorded in it.
  nonDurableSettingsSql: `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit) AS setting
      FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1
    UNION ALL SELECT CONCAT('sync_binlog=', @@sync_binlog) FROM DUAL WHERE @@log_bin AND @@sync_binlog <> 1`,
  /**
   * By SQLSTATE and number (https://mariadb.com/kb/en/mariadb-error-code-reference/); the driver's names are MySQL's,
   * and wrong for MariaDB. 42: no such database, table or column, or no privilege, because the statements themselves never
   * change. 1020: row changed since it was read; 1021, 1114: disk full; 1129, 1130: no connection; 1153: packet too
   * large; 1205: lock timeout; 1290, 1792, 1836: read-only; 1814: no tablespace; 3024: statement timeout; 3118, 4151:
   * account locked. On Galera, 1047: node without a cluster; 1180: cluster lost during a commit; 1050, 1412: another node
   * just created the table, because GET_LOCK holds on one node only.
   */
  errorClasses: [
    // Each statement of a migration commits: it has added its column or index before the process was killed.
    [/ (1060|1061)$/, 'repeated'],
    [/ 1153$/, 'rejected'],
    [/^40| (1020|1050|1412)$/, 'busy'],
    [/^(08|28|42|70)| (\d{1,3}|1021|1047|1114|1129|1130|1180|1205|1290|1792|1814|1836|3024|3118|4151)$/, 'unavailable'],
    [/^(22|23|44|45)/, 'rejected'],
  ],
  openErrorMessages: {
    ER_ACCESS_DENIED_ERROR: 'wrong user or password',
    ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'wrong user or password',
    ER_BAD_DB_ERROR: 'the database does not exist; create it first',
    ER_CON_COUNT_ERROR: 'the server has too many connections',
    ER_DBACCESS_DENIED_ERROR: 'this user has no access to the database',
    ER_OPTION_PREVENTS_STATEMENT: 'the server is read-only',
    HANDSHAKE_NO_SSL_SUPPORT: 'the server does not support TLS; enable it there, or remove ssl',
    ER_TABLEACCESS_DENIED_ERROR: 'this user lacks a table privilege; grant SELECT, INSERT, UPDATE and CREATE',
    PROTOCOL_CONNECTION_LOST: 'the server closed the connection; check the address, the port and its log',
  },

  async insert(knex, plants) {
    let free = plants;
    for (let attempt = 0; attempt < MAX_INSERT_ATTEMPTS; attempt++) {
      try {
        // An insert that succeeds after the duplicates were found has already waited.
        if (free.length === 0) await knex.raw(WAIT_FOR_LOG);
        else await knex('plants').insert(free.map(toRow));
        return exclude(plants, free);
      } catch (error) {
        if (toCode(error) !== 'ER_DUP_ENTRY') throw error;
      }
      free = exclude(free, await selectHolders(knex, mysql, free));
    }
    throw new StorageUnavailable(`other instances took ids of the batch ${MAX_INSERT_ATTEMPTS} times in a row`);
  },

  select: selectRows('CAST(id AS CHAR)'),

  async withMigrationLock(transaction, work) {
    // DDL commits implicitly, so the lock must belong to the session. Lock names are server-wide.
    const name = "CONCAT('plant-store.', DATABASE())";
    const [[{ locked }]] = await transaction.raw(`SELECT GET_LOCK(${name}, @@innodb_lock_wait_timeout) AS locked`);
    if (locked !== 1) throw new StorageUnavailable('timed out waiting for another instance to migrate the schema');
    try {
      return await work();
    } finally {
      await transaction.raw(`DO RELEASE_LOCK(${name})`);
    }
  },

  // An error without SQLSTATE comes from the connection or from Knex.
  errorKey(error) {
    if (!('sqlState' in error) || !error.sqlState) return `08000 ${error.name}`;
    return `${error.sqlState} ${'errno' in error ? error.errno : ''}`;
  },
};

/**
 * Describes a MySQL or MariaDB database for `openRepository`. The parameters of the URL are those of mysql2, such as
 * `ssl` (a JSON object), `connectTimeout` (milliseconds) and `connectionLimit`.
 */
export function mysqlDatabase(options: DatabaseServerOptions): Database {
  const { url, timeoutMs } = options;
  const uri = new URL(url);
  const max = parseNumberParameter(uri, 'connectionLimit', 10);
  const connectTimeout = parseNumberParameter(uri, 'connectTimeout', timeoutMs);
  // Multiple statements per query would allow injection, and texts are always utf8mb4.
  for (const parameter of ['connectionLimit', 'connectTimeout', 'multipleStatements', 'charset'])
    uri.searchParams.delete(parameter);
  const connection = { uri: uri.href, charset: 'utf8mb4', connectTimeout };
  const seconds = Math.ceil(timeoutMs / 1000);
  return serverDatabase(options, mysql, connection, {
    max,
    async configure(connection: Connection) {
      destroyWhenIdle(connection.stream, timeoutMs);
      const query = promisify(connection.query.bind(connection));
      // Strict mode rejects texts instead of truncating them. Only MariaDB has max_statement_time. On MySQL, statements
      // that wait for a lock on the table (by default, for a year) would pile up.
      await query(
        `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = ${seconds},
         lock_wait_timeout = ${seconds} /*M! , max_statement_time = ${seconds} */`,
      );
      // On a Galera cluster, reads wait for the commits of all nodes. MySQL does not know these variables (1193).
      await query('SET SESSION wsrep_sync_wait = 1, @plant_store_on_galera = @@wsrep_on').catch((error) => {
        if (error.errno !== 1193) throw error;
      });
    },
  });
}

/** The part of the driver's connection that is used here. */
interface Connection {
  readonly stream: Socket;
  query(sql: string, done: (error: Error | null) => void): void;
}
