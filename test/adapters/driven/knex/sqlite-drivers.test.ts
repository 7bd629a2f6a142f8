import { join } from 'node:path';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../../adapters/driven/knex/sqlite.js';
import type { SqliteConnection } from '../../../../adapters/driven/knex/sqlite-driver.js';
import { catchError } from '../../../support/catch-error.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe(`The driver ${loadSqliteDriver()?.name} of SQLite`, () => {
  const folder = temporaryFolder();
  const toClose: { close(): Promise<void> }[] = [];
  after(() => Promise.all(toClose.map((open) => open.close())));

  /** Opens a new file twice. */
  async function openTwice(name: string): Promise<[SqliteConnection, SqliteFile]> {
    const path = join(folder, name);
    const other = await SqliteFile.create(path);
    await other.exec('PRAGMA journal_mode = WAL; CREATE TABLE plants (id INTEGER, name TEXT, tag TEXT)');
    const connection = await loadSqliteDriver()?.open(path, 'rw');
    if (connection === undefined) throw new Error('there is no driver');
    toClose.push(connection, other);
    return [connection, other];
  }

  it('commits a write although an earlier one, of another statement, was busy', async () => {
    const [connection, other] = await openTwice('busy.db');
    await other.exec('BEGIN EXCLUSIVE');
    const error = await catchError(connection.all("INSERT INTO plants VALUES (1, 'a', NULL)"));
    expect(error).to.have.property('code', 'SQLITE_BUSY');
    await other.exec('ROLLBACK');
    await connection.all("INSERT INTO plants VALUES (2, 'b', NULL)");
    expect(await other.all('SELECT name FROM plants')).to.deep.equal([{ name: 'b' }]);
  });

  it('runs more statements than it keeps prepared, and closes', async () => {
    const [connection] = await openTwice('many.db');
    for (let count = 1; count <= 40; count++)
      expect(await connection.all(`SELECT ${count} + ? AS sum`, [1])).to.deep.equal([{ sum: count + 1 }]);
  });

  it('reports the name of the primary result code, and nothing of the statement', async () => {
    const [connection] = await openTwice('errors.db');
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
