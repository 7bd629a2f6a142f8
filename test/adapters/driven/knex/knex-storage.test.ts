import { writeFileSync } from 'node:fs';
import { openSqlite } from '@plant-store/adapters/knex';
import { isStorageUnavailable, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { sqliteEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { SqliteFile } from '../../../support/sqlite-file.js';

const PLANTS = [toPlant({ id: 2n, name: 'Monstera' })];

describe('KnexStorage', () => {
  const stores = sqliteEngine.stores();

  it('fails to open with the reason and the codes of the driver, such as for a file that is no database', async () => {
    const { path } = await stores.create();
    writeFileSync(path, 'x'.repeat(1000));
    const error = await catchError(openSqlite({ path }));
    expect(isStorageUnavailable(error)).to.equal(true);
    expect(`${error}`).to.match(/: cannot open sqlite:.*\.db: .*file is not a database$/);
    const SQLITE_NOTADB = 26;
    expect(error).to.have.nested.property('cause.errno', SQLITE_NOTADB);
  });

  const succeeds = (call: Promise<unknown>) =>
    call.then(
      () => true,
      () => false,
    );

  it('is ready after a start or a failed add once a write has succeeded, which stores no plant', async () => {
    const store = await stores.create();
    const storage = await stores.open(store, { timeoutMs: 500 });
    const other = await SqliteFile.open(store.path);
    await other.exec('BEGIN IMMEDIATE');
    const checks = [succeeds(storage.ready()), succeeds(storage.ready())];
    expect(await Promise.all(checks)).to.deep.equal([false, false]);
    await other.exec('ROLLBACK');
    expect(await succeeds(storage.ready())).to.equal(true);
    await other.exec('BEGIN IMMEDIATE');
    expect(await succeeds(storage.ready()), 'without a write').to.equal(true);
    expect(await catchError(storage.add(PLANTS))).to.be.instanceOf(StorageUnavailable);
    expect(await succeeds(storage.ready())).to.equal(false);
    await other.close();
    expect(await succeeds(storage.ready())).to.equal(true);
    expect(await store.readPlants()).to.deep.equal([]);
  });

  it('is ready while another program writes, if it is opened for reading', async () => {
    const store = await stores.create();
    await stores.open(store);
    const reading = await stores.open(store, { readOnly: true, timeoutMs: 100 });
    const other = await SqliteFile.open(store.path);
    await other.exec('BEGIN IMMEDIATE');
    await reading.ready();
    await other.close();
  });

  it('stores what it and the caller acknowledge, although a COMMIT of the caller has failed', async () => {
    const store = await stores.create();
    const storage = await stores.open(store, { timeoutMs: 200 });
    const { knex } = storage;
    await knex.raw('PRAGMA foreign_keys = ON');
    await knex.raw('CREATE TABLE parts (plant REFERENCES plants DEFERRABLE INITIALLY DEFERRED)');
    const failing = knex.transaction((transaction) => transaction('parts').insert({ plant: 1 }));
    expect(await catchError(failing)).to.match(/FOREIGN KEY constraint failed/);
    // Closes the connection, whose transaction is still open.
    await knex('plants').insert({ id: 1, name: 'Aloe' });
    expect(await storage.add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
    expect(await store.readPlants()).to.have.lengthOf(2);
  });
});
