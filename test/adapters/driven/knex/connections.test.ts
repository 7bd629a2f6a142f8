import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import knexFactory from 'knex';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Connections } from '#adapters/driven/knex/connections.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { chooseDriver, configureSqlite } from '#adapters/driven/knex/sqlite-file.js';
import { catchError } from '../../../support/catch-error.js';
import { temporaryFolder } from '../../../support/temporary.js';

describe('Connections', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'pots.db');
  let connections: Connections;
  beforeEach(async () => {
    writeFileSync(path, '');
    connections = new Connections(knexFactory, await configureSqlite(path, chooseDriver(), true), sqlite);
    const { knex } = connections;
    await knex.raw('PRAGMA foreign_keys = ON');
    await knex.raw('CREATE TABLE pots (id INTEGER PRIMARY KEY)');
    await knex.raw('CREATE TABLE labels (pot REFERENCES pots DEFERRABLE INITIALLY DEFERRED)');
    // Only this connection has it.
    await knex.raw('CREATE TEMP TABLE mark (id)');
  });
  afterEach(() => connections.knex.destroy());

  const fail = (sql: string) => catchError(connections.knex.raw(sql).then());
  const isMarked = async () => {
    const [{ marks }] = await connections.knex.raw('SELECT count(*) AS marks FROM temp.sqlite_master');
    return marks === 1;
  };

  it('are not used again after a statement that failed because the database is unavailable', async () => {
    await fail('SELECT * FROM missing');
    expect(await isMarked()).to.equal(false);
  });

  it('are not used again after a COMMIT that failed, which leaves the transaction open', async () => {
    const transaction = connections.knex.transaction((transaction) => transaction('labels').insert({ pot: 1 }));
    expect(await catchError(transaction)).to.match(/FOREIGN KEY constraint failed/);
    expect(await isMarked()).to.equal(false);
  });

  it('are used again after a statement that the database rejects', async () => {
    await fail('INSERT INTO pots VALUES (1), (1)');
    expect(await isMarked()).to.equal(true);
  });

  it('are used again after a statement that could not write the file', async () => {
    const SQLITE_IOERR = 10;
    connections.knex.emit('query-error', Object.assign(new Error(), { errno: SQLITE_IOERR }), {});
    expect(await isMarked()).to.equal(true);
  });
});
