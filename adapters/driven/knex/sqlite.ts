import type { Dialect } from './dialect.js';
import { toCodes } from './driver-errors.js';

// https://sqlite.org/rescode.html
const BUSY = [5, 15]; // SQLITE_BUSY, SQLITE_PROTOCOL
const FILE_ERRORS = [10, 11, 13, 26]; // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_NOTADB
const REJECTED = [18, 19, 20]; // SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH

/** Maximum number of prepared statements that a connection keeps. When it has more, it drops them all. */
export const MAX_STATEMENTS = 50;

// `OR ABORT` prevails over a conflict clause of the table, such as ON CONFLICT REPLACE.
const INSERT = `INSERT OR ABORT INTO plants (id, name, tag)
  SELECT CAST(value ->> 'id' AS INTEGER), value ->> 'name', value ->> 'tag' FROM json_each(?)`;

/** SQLite. Ids are bound as decimal text: `sqlite3` binds a large number as a double. */
export const sqlite: Dialect = {
  textToId: 'CAST(? AS INTEGER)',
  idToText: 'CAST(id AS TEXT)',
  // One statement for any number of ids, which stays prepared.
  jsonToIds: 'SELECT CAST(value AS INTEGER) FROM json_each(?)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'],
  },
  // Later than the migrations, so that the schema is in the file itself, and not in the write-ahead log.
  afterMigrations: 'PRAGMA journal_mode = WAL',
  columns: `SELECT LOWER(name) AS name, type, NOT "notnull" AS nullable, dflt_value IS NOT NULL AS has_default, pk AS is_key
    FROM pragma_table_info('plants')`,
  // Those with this affinity (https://sqlite.org/datatype3.html, 3.1). A column without a type keeps text, too.
  types: { id: /INT/i, text: /^(?!.*INT)(.*CHAR|.*CLOB|.*TEXT|$)/i },
  // UTF-16 would store U+FFFE and U+FFFF as U+FFFD.
  faults: "SELECT 'the encoding of the file is ' || encoding AS finding FROM pragma_encoding WHERE encoding <> 'UTF-8'",

  toInsert: (rows) => ({ sql: INSERT, bindings: [JSON.stringify(rows)] }),

  async sync(knex) {
    // The id belongs to the caller. SQLite writes even an unchanged one.
    const [{ id }] = await knex.raw('SELECT application_id AS id FROM pragma_application_id');
    await knex.raw(`PRAGMA application_id = ${id}`);
  },

  // After a sync that failed, the disk lacks frames that the page cache has. The open connection writes them again.
  classify(error) {
    const { errno = 0 } = toCodes(error);
    if (BUSY.includes(errno)) return 'busy';
    if (FILE_ERRORS.includes(errno)) return 'fileError';
    return REJECTED.includes(errno) ? 'rejected' : 'unavailable';
  },
};
