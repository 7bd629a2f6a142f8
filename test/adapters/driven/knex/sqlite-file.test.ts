import { existsSync, linkSync, renameSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { openSqlite } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import knexFactory, { type Knex } from 'knex';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { chooseDriver, loadClient } from '#adapters/driven/knex/sqlite-file.js';
import { catchError } from '../../../support/catch-error.js';
import { SqliteFile } from '../../../support/sqlite-file.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe('A SQLite file', () => {
  const folder = temporaryFolder();
  const openAndClose = async (path: string, readOnly = false) => {
    const storage = await openSqlite({ path, readOnly });
    await storage.close();
  };
  const expectFailure = async (path: string, reason: RegExp) => {
    for (const readOnly of [false, true])
      expect(`${await catchError(openSqlite({ path, readOnly }))}`).to.match(reason);
  };

  it('is neither a folder nor a device', async () => {
    for (const path of [folder, '/dev/null'])
      await expectFailure(path, /: cannot open sqlite:\/.*: it is a folder or a device, not a file$/);
  });

  it('has one name, but symbolic links may lead to it', async () => {
    const [path, link] = [join(folder, 'linked.db'), join(folder, 'link.db')];
    await openAndClose(path);
    linkSync(path, link);
    await expectFailure(link, /link\.db: it has another hard link, .*; remove the link$/);
    unlinkSync(link);
    symlinkSync(path, link);
    await openAndClose(link);
  });

  it('needs a folder, which the error names, also if the file is only read', async () => {
    await expectFailure(join(folder, 'no/plants.db'), /: cannot open sqlite:.*plants\.db: \/.*\/no is missing$/);
  });

  it('is not changed if it is only read, even if it is empty or missing', async () => {
    const [empty, missing] = [join(folder, 'empty.db'), join(folder, 'missing.db')];
    writeFileSync(empty, '');
    for (const path of [empty, missing]) await openAndClose(path, true);
    expect(statSync(empty).size).to.equal(0);
    expect(existsSync(missing)).to.equal(false);
  });
});

describe('Knex on a driver for SQLite', () => {
  const isAvailable = { sqlite3: chooseDriver() === 'sqlite3', 'node:sqlite': isBuiltin('node:sqlite') };
  for (const driver of ['sqlite3', 'node:sqlite'] as const)
    if (isAvailable[driver]) describe(driver, () => testDriver(driver));
});

function testDriver(driver: 'sqlite3' | 'node:sqlite'): void {
  const folder = temporaryFolder();
  const path = join(folder, 'pots.db');
  let knex: Knex;
  let other: SqliteFile;

  beforeEach(async () => {
    writeFileSync(path, '');
    const client = await loadClient(driver);
    knex = knexFactory({ client, connection: { filename: path }, useNullAsDefault: true, log: { warn() {} } });
    await knex.raw('PRAGMA journal_mode = WAL');
    await knex.raw('CREATE TABLE pots (id INTEGER PRIMARY KEY)');
    other = await SqliteFile.open(path, driver);
  });
  afterEach(async () => {
    await other.close();
    await knex.destroy();
  });

  it("returns rows, the id of an inserted row, the number of changed rows, and SQLite's primary result code", async () => {
    expect(await knex('pots').insert({ id: 7 })).to.deep.equal([7]);
    expect(await knex('pots').insert({ id: 8 }).returning('id')).to.deep.equal([{ id: 8 }]);
    expect(await knex('pots').update({ id: 9 }).where({ id: 8 })).to.equal(1);
    expect(await knex.raw('SELECT id FROM pots WHERE id = ?', [7])).to.deep.equal([{ id: 7 }]);
    const error = await catchError(knex('pots').insert({ id: 7 }));
    expect(error).to.include({ code: 'SQLITE_CONSTRAINT', errno: 19 });
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
    const error = await catchError(knex('pots').select());
    expect(error).to.have.property('code').that.is.oneOf(['SQLITE_CANTOPEN', 'ENOENT']);
    expect(existsSync(path)).to.equal(false);
    renameSync(`${path}.away`, path);
    expect(await knex('pots').select()).to.deep.equal([]);
  });

  it('commits other statements after one that failed because another program wrote', async () => {
    await other.exec('BEGIN IMMEDIATE');
    expect(await catchError(knex.raw('INSERT INTO pots VALUES (1)'))).to.match(/database is locked/);
    await other.exec('ROLLBACK');
    await knex.raw('INSERT INTO pots VALUES (2)');
    await other.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
    expect(await other.all('SELECT id FROM pots')).to.deep.equal([{ id: 2 }]);
  });
}
