import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';
import { selectStored, toRow, withoutIds } from './rows.js';

// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
const ER_DUP_FIELDNAME = 1060;
const ER_DUP_KEYNAME = 1061;
const ER_DUP_ENTRY = 1062;

const FROM_OTHER_ENGINE = `FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_name = 'plants' AND engine <> 'InnoDB'`;

/**
 * MySQL and MariaDB, including Galera clusters. MySQL has no RETURNING, and INSERT IGNORE hides other errors. So each
 * batch is one plain insert; if an id is in use, the engine rolls it back, and the rest of the batch is retried.
 */
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
  // One of several rows, because a transaction of a caller may keep its row locked.
  syncWrite: `INSERT INTO plant_store_log_syncs (id, syncs) VALUES (CONNECTION_ID() % 128, 1)
    ON DUPLICATE KEY UPDATE syncs = syncs + 1`,
  // Another engine would keep the row.
  undoesFailedInserts: `NOT EXISTS (SELECT 1 ${FROM_OTHER_ENGINE})`,
  // After a crash, a server with a binary log keeps only the transactions recorded in it. MariaDB skips `/*!80021`.
  nonDurableSettings: `SELECT CONCAT('innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit) AS setting
      FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1
    UNION ALL SELECT CONCAT('sync_binlog=', @@sync_binlog) FROM DUAL WHERE @@log_bin AND @@sync_binlog <> 1
    UNION ALL SELECT CONCAT('engine of the table plants: ', engine) ${FROM_OTHER_ENGINE}
    /*!80021 UNION ALL SELECT 'the redo log is disabled' FROM performance_schema.global_status
      WHERE variable_name = 'Innodb_redo_log_enabled' AND variable_value = 'OFF' */`,
  readsSnapshot: true,

  // By SQLSTATE and number (https://mariadb.com/kb/en/mariadb-error-code-reference/); the driver's names are MySQL's,
  // and wrong for MariaDB. 1020: row changed since it was read; 1153: packet too large. On Galera, 1050, 1412: another
  // node just created the table. The SQLSTATE of the others is general: 1265, 1366, 1411: the type, character set or
  // expression of a column does not allow the value; 1369: view; 1526: partitions; 1644: trigger; 3751: index on an
  // expression; 3819: CHECK on MySQL.
  classify(error) {
    const { sqlState, errno } = toCodes(error);
    const key = `${sqlState} ${errno}`;
    if (/^40| (1020|1050|1412)$/.test(key)) return 'busy';
    const isRejected = /^(22|23|44|45)| (1153|1265|1366|1369|1411|1526|1644|3751|3819)$/.test(key);
    return isRejected ? 'rejected' : 'unavailable';
  },

  isRepeated(error) {
    const { errno } = toCodes(error);
    return errno === ER_DUP_FIELDNAME || errno === ER_DUP_KEYNAME;
  },

  async insertFree(knex, plants) {
    let free = plants;
    // Ends, because each attempt has fewer plants than the one before.
    for (;;) {
      try {
        if (free.length > 0) await knex('plants').insert(free.map(toRow));
        return withoutIds(plants, free);
      } catch (error) {
        if (toCodes(error).errno !== ER_DUP_ENTRY) throw error;
        const stored = await selectStored(knex, mysql, free);
        // The operator has added a unique index on another column.
        if (stored.length === 0) throw error;
        free = withoutIds(free, stored);
      }
    }
  },
};
