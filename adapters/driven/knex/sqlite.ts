import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';

// https://sqlite.org/rescode.html
const BUSY = [5, 15]; // SQLITE_BUSY, SQLITE_PROTOCOL
const REJECTED = [18, 19, 20]; // SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH

/** Maximum number of prepared statements that a connection keeps. When it has more, it drops them all. */
export const MAX_STATEMENTS = 50;

/** A small write, whose commit waits for a sync. Sets "PLNT", for programs such as file(1). */
const SET_APPLICATION_ID = `PRAGMA application_id = ${0x504c4e54}`;

const INSERT = `INSERT INTO plants (id, name, tag)
  SELECT CAST(value ->> 'id' AS INTEGER), value ->> 'name', value ->> 'tag' FROM json_each(?)`;

/** SQLite. Ids are bound as decimal text: `sqlite3` binds a bigint as NULL and a large number as a double. */
export const sqlite: Dialect = {
  textToId: 'CAST(? AS INTEGER)',
  idToText: 'CAST(id AS TEXT)',
  // One statement for any number of ids, which stays prepared.
  jsonToIds: 'SELECT CAST(value AS INTEGER) FROM json_each(?)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'],
  },
  // A transaction that reads before it writes fails with SQLITE_BUSY_SNAPSHOT. Its commit also syncs what a killed
  // process left in the write-ahead log.
  migrationLock: SET_APPLICATION_ID,
  // Later than the migrations, so that the schema is in the file itself, and not in the write-ahead log.
  afterMigrations: 'PRAGMA journal_mode = WAL',
  faults: `SELECT 'its primary key is not id' AS finding
      WHERE (SELECT GROUP_CONCAT(name) FROM pragma_table_info('plants') WHERE pk > 0) IS NOT 'id'
    UNION ALL SELECT 'name may be NULL' FROM pragma_table_info('plants') WHERE name = 'name' AND NOT "notnull"`,
  syncWrite: SET_APPLICATION_ID,

  insert: async (knex, rows) => knex.raw(INSERT, [JSON.stringify(rows)]),

  classify(error) {
    const { errno = 0 } = toCodes(error);
    if (BUSY.includes(errno)) return 'busy';
    return REJECTED.includes(errno) ? 'rejected' : 'unavailable';
  },
};
