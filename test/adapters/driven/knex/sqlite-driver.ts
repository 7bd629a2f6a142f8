import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import knexFactory, { type Knex } from 'knex';
import { afterEach, beforeEach, it } from 'mocha';
import { MAX_STATEMENTS } from '#adapters/driven/knex/sqlite.js';
import { loadClient } from '#adapters/driven/knex/sqlite-file.js';
import { catchError } from '../../../support/catch-error.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** Defines the tests that Knex passes on both drivers for SQLite. Call it inside `describe`. */
export function testSqliteDriver(driver: 'sqlite3' | 'node:sqlite'): void {
  const folder = temporaryFolder();
  let files = 0;
  let path: string;
  let knex: Knex;
  let other: SqliteFile;

  beforeEach(async () => {
    path = join(folder, `${++files}.db`);
    writeFileSync(path, '');
    knex = knexFactory({
      client: await loadClient(driver),
      connection: { filename: path },
      useNullAsDefault: true,
      log: { warn() {} },
    });
    await knex.raw('PRAGMA journal_mode = WAL');
    await knex.raw('CREATE TABLE pots (id INTEGER PRIMARY KEY)');
    other = await SqliteFile.open(path, driver);
  });
  afterEach(async () => {
    await other.close();
    await knex.destroy();
  });

  it('returns rows, the id of an inserted row, and the number of changed rows', async () => {
    expect(await knex('pots').insert({ id: 7 })).to.deep.equal([7]);
    expect(await knex('pots').insert({ id: 8 }).returning('id')).to.deep.equal([{ id: 8 }]);
    expect(await knex('pots').update({ id: 9 }).where({ id: 8 })).to.equal(1);
    expect(await knex('pots').where({ id: 9 }).delete()).to.equal(1);
    expect(await knex.raw('SELECT id FROM pots WHERE id = ?', [7])).to.deep.equal([{ id: 7 }]);
  });

  it('binds a bigint exactly, to a column of numbers and to one of strings, also in a transaction', async () => {
    await knex.raw('CREATE TABLE labels (pot_id BIGINT, text TEXT)');
    await knex.transaction(async (transaction) => {
      for (const id of [7n, -(2n ** 31n) - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
        await transaction('labels').insert({ pot_id: id, text: id });
        const columns = transaction.raw("typeof(pot_id) AS type, pot_id || '' AS id");
        const rows = await transaction('labels').where({ pot_id: id, text: id }).select(columns);
        expect(rows).to.deep.equal([{ type: 'integer', id: `${id}` }]);
      }
    });
  });

  it('does not create a file', async () => {
    await knex.destroy();
    renameSync(path, `${path}.away`);
    knex.initialize();
    expect(await catchError(knex('pots').select()))
      .to.have.property('code')
      .that.matches(/^(SQLITE_CANTOPEN|ENOENT)$/);
    expect(existsSync(path)).to.equal(false);
    renameSync(`${path}.away`, path);
    expect(await knex('pots').select()).to.deep.equal([]);
  });

  it("reports SQLite's primary result code", async () => {
    await knex('pots').insert({ id: 1 });
    const error = await catchError(knex('pots').insert({ id: 1 }));
    expect(error).to.include({ code: 'SQLITE_CONSTRAINT', errno: 19 });
  });

  it('runs a kept statement after the table was changed or dropped, also by another program', async () => {
    const read = () => knex.raw('SELECT * FROM pots');
    await knex('pots').insert({ id: 1 });
    expect(await read()).to.deep.equal([{ id: 1 }]);
    await knex.raw('ALTER TABLE pots ADD COLUMN size');
    expect(await read()).to.deep.equal([{ id: 1, size: null }]);
    await other.exec('ALTER TABLE pots DROP COLUMN size');
    expect(await read()).to.deep.equal([{ id: 1 }]);
    await knex.raw('DROP TABLE pots');
    expect(await catchError(read())).to.match(/no such table: pots/);
  });

  it('reports a statement that cannot be prepared each time', async () => {
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await catchError(knex.raw('SELECT size'))).to.match(/no such column: size/);
  });

  it('commits other statements after one that failed because another program wrote', async () => {
    await other.exec('BEGIN IMMEDIATE');
    expect(await catchError(knex.raw('INSERT INTO pots VALUES (1)'))).to.match(/database is locked/);
    await other.exec('ROLLBACK');
    await knex.raw('INSERT INTO pots VALUES (2)');
    await other.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
    expect(await other.all('SELECT id FROM pots')).to.deep.equal([{ id: 2 }]);
  });

  it('closes a file with more statements than it keeps, so that SQLite removes the write-ahead log', async () => {
    for (let id = 0; id < MAX_STATEMENTS + 10; id++) await knex.raw(`SELECT ${id}`);
    await other.close();
    expect(existsSync(`${path}-wal`)).to.equal(true);
    await knex.destroy();
    expect(existsSync(`${path}-wal`)).to.equal(false);
    other = await SqliteFile.open(path, driver);
  });
}
