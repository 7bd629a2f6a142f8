import type { Socket } from 'node:net';
import { StorageUnavailable } from '../../../core/index.js';
import { type Engine, exclude, selectStored, toCode, toRow } from './engine.js';
import type { Database } from './open.js';
import { type DatabaseServerOptions, onStall, serverDatabase } from './server.js';

/** Maximum number of attempts to insert a batch while other instances keep taking its ids. */
const MAX_INSERT_ATTEMPTS = 10;

const FROM_OTHER_ENGINE = `FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_name = 'plants' AND engine <> 'InnoDB'`;

/**
 * MySQL and MariaDB, including Galera clusters. MySQL has no RETURNING, and INSERT IGNORE hides other errors. So each
 * batch is one plain insert; if an id is in use, the engine rolls it back, and the rest of the batch is retried.
 */
export const mysql: Engine = {
  driver: 'mysql2',
  urlParameters: ['ssl', 'socketPath', 'compress', 'localAddress'],
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
  commit: 'INSERT INTO plant_store_log_syncs (id, syncs) VALUES (1, 1) ON DUPLICATE KEY UPDATE syncs = syncs + 1',
  // Another engine would keep the row.
  undoesFailedInserts: `NOT EXISTS (SELECT 1 ${FROM_OTHER_ENGINE})`,
  // After a crash, a server with a binary log keeps only the transactions recorded in it. MariaDB skips `/*!80021`.
  nonDurableSettings: `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit) AS setting
      FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1
    UNION ALL SELECT CONCAT('sync_binlog=', @@sync_binlog) FROM DUAL WHERE @@log_bin AND @@sync_binlog <> 1
    UNION ALL SELECT CONCAT('engine of the table plants: ', engine) ${FROM_OTHER_ENGINE}
    /*!80021 UNION ALL SELECT 'the redo log is disabled' FROM performance_schema.global_status
      WHERE variable_name = 'Innodb_redo_log_enabled' AND variable_value = 'OFF' */`,

  // By SQLSTATE and number (https://mariadb.com/kb/en/mariadb-error-code-reference/); the driver's names are MySQL's,
  // and wrong for MariaDB. 1020: row changed since it was read; 1153: packet too large. On Galera, 1050, 1412: another
  // node just created the table. The SQLSTATE of the others is general: 1265, 1366, 1411: the type, character set or
  // expression of a column does not allow the value; 1369: view; 1526: partitions; 1644: trigger; 3751: index on an
  // expression; 3819: CHECK on MySQL.
  classify(error) {
    const key = `${Object(error).sqlState} ${Object(error).errno}`;
    if (/^40| (1020|1050|1412)$/.test(key)) return 'busy';
    const isRejected = /^(22|23|44|45)| (1153|1265|1366|1369|1411|1526|1644|3751|3819)$/.test(key);
    return isRejected ? 'rejected' : 'unavailable';
  },

  async insert(knex, plants) {
    let free = plants;
    for (let attempt = 0; attempt < MAX_INSERT_ATTEMPTS; attempt++) {
      try {
        if (free.length > 0) await knex('plants').insert(free.map(toRow));
        return exclude(plants, free);
      } catch (error) {
        if (toCode(error) !== 'ER_DUP_ENTRY') throw error;
        const stored = await selectStored(knex, mysql, free);
        // The operator has added a unique index on another column.
        if (stored.length === 0) throw error;
        free = exclude(free, stored);
      }
    }
    throw new StorageUnavailable(`other instances took ids of the batch ${MAX_INSERT_ATTEMPTS} times in a row`);
  },
};

/** Describes a MySQL or MariaDB database for `openRepository`. The parameters of the URL are those of mysql2. */
export function mysqlDatabase(options: DatabaseServerOptions): Database {
  const { url, timeoutMs } = options;
  const connection = { uri: url, charset: 'utf8mb4', connectTimeout: timeoutMs };
  const seconds = Math.ceil(timeoutMs / 1000);
  return serverDatabase(options, mysql, connection, async (connection: Connection) => {
    onStall(connection.stream, timeoutMs, (destroy) => {
      // First, because the server reports a cancelled wait as a success.
      destroy();
      kill(connection.threadId, options).catch(() => {});
    });
    const session = connection.promise();
    // The server's defaults, or its init_connect, may leave a transaction open, let it see what is not committed, or set
    // another character set.
    await session.query('ROLLBACK');
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
  });
}

/** Ends the statement of a connection, which may wait for a semi-synchronous replica. */
async function kill(threadId: number, { url, timeoutMs }: DatabaseServerOptions): Promise<void> {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri: url, connectTimeout: timeoutMs });
  await connection.query(`KILL QUERY ${threadId}`).finally(() => connection.destroy());
}

/** The part of the driver's connection that is used here. */
interface Connection {
  readonly threadId: number;
  readonly stream: Socket;
  promise(): { query(sql: string): Promise<unknown> };
}
