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
  const path = join(temporaryFolder(), 'pots.db');
  const insert = { sql: 'INSERT INTO pots DEFAULT VALUES', bindings: [] };
  let connections: Connections;
  beforeEach(async () => {
    writeFileSync(path, '');
    connections = new Connections(knexFactory, await configureSqlite(path, chooseDriver(), true), sqlite);
    // Only this connection has it.
    await connections.knex.raw('CREATE TEMP TABLE pots (id INTEGER PRIMARY KEY)');
  });
  afterEach(() => connections.knex.destroy());

  const expectSameConnection = async (isSame: boolean) => {
    const tables = await connections.knex.raw('SELECT name FROM temp.sqlite_master');
    expect(tables).to.have.lengthOf(isSame ? 1 : 0);
  };

  it('are not used again after a statement that failed because the database is unavailable', async () => {
    await catchError(connections.knex.raw('SELECT * FROM missing').then());
    await expectSameConnection(false);
  });

  it('are not kept for the next insert if another statement fails during an insert', async () => {
    connections.knex.once('query', () => connections.knex.emit('query-error', new Error(), {}));
    await connections.execute(insert);
    expect(await catchError(connections.execute(insert))).to.match(/no such table/);
  });

  it('are used again after a statement that the database rejects', async () => {
    await catchError(connections.knex.raw('INSERT INTO pots VALUES (1), (1)').then());
    await expectSameConnection(true);
  });

  it('are used again after a statement that could not read or write the file', async () => {
    const [SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_NOTADB] = [10, 11, 13, 26];
    for (const errno of [SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_NOTADB]) {
      connections.knex.emit('query-error', Object.assign(new Error(), { errno }), {});
      await expectSameConnection(true);
    }
  });

  it('are not withheld from a query by statements that follow each other', async () => {
    const first = connections.execute(insert);
    let hasEnded = false;
    connections.knex('pots').then(() => {
      hasEnded = true;
    });
    await first;
    for (let inserts = 0; inserts < 100 && !hasEnded; inserts++) await connections.execute(insert);
    expect(hasEnded).to.equal(true);
  });
});
