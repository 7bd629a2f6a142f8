import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../../adapters/driven/knex/sqlite.js';
import { catchError } from '../../../support/catch-error.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe(`The driver ${loadSqliteDriver()?.name} of SQLite`, () => {
  const folder = temporaryFolder();
  let connection: SqliteFile;
  let other: SqliteFile;
  before(async () => {
    const path = join(folder, 'plants.db');
    other = await SqliteFile.create(path);
    await other.exec('PRAGMA journal_mode = WAL; CREATE TABLE plants (id INTEGER, name TEXT, tag TEXT)');
    connection = await SqliteFile.open(path);
    await connection.exec('PRAGMA busy_timeout = 0');
  });
  after(() => Promise.all([connection.close(), other.close()]));

  it('commits a write after a different write statement failed because the file was busy', async () => {
    await other.exec('BEGIN EXCLUSIVE');
    const error = await catchError(connection.all("INSERT INTO plants VALUES (1, 'a', NULL)"));
    expect(error).to.have.property('code', 'SQLITE_BUSY');
    await other.exec('ROLLBACK');
    await connection.all("INSERT INTO plants VALUES (2, 'b', NULL)");
    expect(await other.all('SELECT name FROM plants')).to.deep.equal([{ name: 'b' }]);
  });

  it('runs more statements than it keeps prepared, and closes', async () => {
    for (let count = 1; count <= 40; count++)
      expect(await connection.all(`SELECT ${count} + ? AS sum`, [1])).to.deep.equal([{ sum: count + 1 }]);
  });

  it('reports the name of the primary result code, and nothing of the statement', async () => {
    await connection.exec('CREATE UNIQUE INDEX ids ON plants (id)');
    const insert = () => connection.all('INSERT INTO plants VALUES (?, ?, ?)', [1, 'a', null]);
    await insert();
    for (const [call, code] of [
      [insert, 'SQLITE_CONSTRAINT'],
      [() => connection.all('SELECT canary'), 'SQLITE_ERROR'],
      [() => connection.exec('canary'), 'SQLITE_ERROR'],
      [() => SqliteFile.open(folder), 'SQLITE_CANTOPEN'],
    ] as const)
      expect(await catchError(call())).to.have.property('code', code);
  });
});
