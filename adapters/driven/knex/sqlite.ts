import { TEXT_FIELDS } from '../../../core/index.js';
import { codeOf, retryWhileBusy } from './driver-error.js';
import type { Engine } from './engine.js';
import { exclude, insertJsonRows, plantColumns, toJsonRows } from './rows.js';

/** "PLNT". Identifies the file to programs such as file(1) (https://sqlite.org/pragma.html#pragma_application_id). */
export const APPLICATION_ID = 0x504c4e54;
/** Rewrites the first page of the file, usually without changing it. */
const SET_APPLICATION_ID = `PRAGMA application_id = ${APPLICATION_ID}`;

const INSERT = insertJsonRows('INTEGER', 'json_each(?)');

/** SQLite. Ids are bound as decimal text: `sqlite3` binds a bigint as NULL and a large number as a double. */
export const sqlite: Engine = {
  driver: 'sqlite3',
  maxWrites: 1,
  textToId: 'CAST(? AS INTEGER)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT'],
  },
  tables: { plants: plantColumns('integer', 'text') },
  columnsSql:
    "SELECT name || ' ' || lower(type) || iif(pk, ' primary key', '') AS description FROM pragma_table_info(?)",
  probe: SET_APPLICATION_ID,
  // https://sqlite.org/rescode.html
  errorClasses: [
    [/^SQLITE_(BUSY|PROTOCOL)$/, 'busy'],
    [/^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)$/, 'rejected'],
    // ERROR: a table or column is missing or foreign. The statements themselves never change.
    [
      /^(KnexTimeoutError|SQLITE_(CANTOPEN|CORRUPT|ERROR|FULL|IOERR|LOCKED|NOMEM|NOTADB|PERM|READONLY))$/,
      'unavailable',
    ],
  ],
  openErrorMessages: {
    EACCES: 'permission denied',
    ELOOP: 'its symbolic links form a loop',
    ENOENT: 'its directory does not exist; create it first',
    ENOSPC: 'the disk is full',
    ENOTDIR: 'a part of the path is a file, not a directory',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    KnexTimeoutError: 'timed out waiting for a lock held by another process',
    SQLITE_BUSY: 'timed out waiting for a lock held by another process',
    SQLITE_CANTOPEN: 'permission denied for the file or its directory',
    SQLITE_CORRUPT: 'the database is corrupt; restore a backup',
    SQLITE_ERROR: 'it contains tables from another program or a newer version of plant-store',
    SQLITE_FULL: 'the disk is full',
    SQLITE_IOERR: 'the disk reported an I/O error or is full',
    SQLITE_NOTADB: 'it is not a SQLite database',
    SQLITE_READONLY: 'permission denied: the file or its directory is read-only for this user',
  },

  async insert(knex, plants) {
    const rows = toJsonRows(plants);
    try {
      await knex.raw(INSERT, [rows]);
      return [];
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_CONSTRAINT') throw error;
    }
    // At least one id is taken. RETURNING costs as much as the insert itself, so only this second statement uses it.
    // The holder is durable: a commit is visible only after its sync, and a start syncs the log of a killed process.
    const returning = `${INSERT} WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`;
    return exclude(plants, await knex.raw(returning, [rows]));
  },

  // One JSON text, because drivers are slow at creating an object per row, and Node 22 cuts a text at U+0000.
  async select(knex, condition, ids) {
    const texts = TEXT_FIELDS.map((field) => `'${field}', ${field}`).join(', ');
    const [{ rows }] = await knex.raw(
      `SELECT json_group_array(json_object('id', CAST(id AS TEXT), ${texts})) AS rows
       FROM (SELECT * FROM plants WHERE ${condition} ORDER BY id)`,
      ids,
    );
    return JSON.parse(rows);
  },

  async withMigrationLock(transaction, work) {
    // Starts with a write, which waits for other writers; a write after a read fails at once with SQLITE_BUSY_SNAPSHOT.
    // Its commit also syncs a log that a killed process left.
    await transaction.raw(SET_APPLICATION_ID);
    return work();
  },

  checkpoint(knex, schema, timeoutMs) {
    return retryWhileBusy(sqlite, timeoutMs, async () => {
      // Does not wait for a backup that reads an earlier state, unless the schema itself is new.
      const [{ busy }] = await knex.raw(`PRAGMA wal_checkpoint(${schema === 'current' ? 'PASSIVE' : 'TRUNCATE'})`);
      if (busy === 1 && schema !== 'current') throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
    });
  },

  errorKey: codeOf,
};
