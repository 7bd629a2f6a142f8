import { writeFileSync } from 'node:fs';
import { isStorageUnavailable } from '@plant-store/core';
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
    const store = await stores.create();
    writeFileSync(store.path, 'x'.repeat(1000));
    const error = await catchError(stores.open(store));
    expect(isStorageUnavailable(error)).to.equal(true);
    expect(`${error}`).to.match(/: cannot open sqlite:.*\.db: .*file is not a database$/);
    const SQLITE_NOTADB = 26;
    expect(error).to.have.nested.property('cause.errno', SQLITE_NOTADB);
  });

  it('is ready after a start or a failed add once a write has succeeded, unless it is only read', async () => {
    const store = await stores.create();
    const storage = await stores.open(store, { timeoutMs: 500 });
    const other = await SqliteFile.open(store.path);
    await other.exec('BEGIN IMMEDIATE');
    expect(await catchError(storage.ready())).to.satisfy(isStorageUnavailable);
    const reading = await stores.open(store, { readOnly: true });
    await reading.ready();
    await other.exec('ROLLBACK');
    await storage.ready();
    await other.exec('BEGIN IMMEDIATE');
    // Without a write.
    await storage.ready();
    expect(await catchError(storage.add(PLANTS))).to.satisfy(isStorageUnavailable);
    expect(await catchError(storage.ready())).to.satisfy(isStorageUnavailable);
    await other.close();
    await storage.ready();
    expect(await store.readPlants()).to.deep.equal([]);
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
