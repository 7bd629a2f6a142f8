import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';
import { selectStored, toRow, withoutIds } from './rows.js';

// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
const ER_DUP_FIELDNAME = 1060;
const ER_DUP_KEYNAME = 1061;
const ER_DUP_ENTRY = 1062;

// Errors with a general SQLSTATE (https://mariadb.com/kb/en/mariadb-error-code-reference/).
const BUSY = [
  1020, // the row has changed since it was read
  1050, // another node of a Galera cluster has just created the table
  1412, // likewise
];
const REJECTED = [
  1153, // larger than max_allowed_packet
  1265, // the type of the column does not allow the value
  1366, // its character set does not
  1369, // the condition of a view does not
  1411, // an expression of the column does not
  1526, // no partition for the value
  1644, // a trigger rejects the row
  3751, // the type of an index on an expression does not allow the value
  3819, // a CHECK rejects the row, on MySQL
];

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

  // By SQLSTATE or number, because the names that the driver gives are wrong for MariaDB.
  classify(error) {
    const { sqlState = '', errno = 0 } = toCodes(error);
    if (sqlState.startsWith('40') || BUSY.includes(errno)) return 'busy';
    return /^(22|23|44|45)/.test(sqlState) || REJECTED.includes(errno) ? 'rejected' : 'unavailable';
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
