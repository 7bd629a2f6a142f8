import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { sqliteEngine, sqliteStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

describe('SQLite', () => {
  const stores = sqliteEngine.stores();

  it('has the schema in the file itself after a start, and not in the write-ahead log', async () => {
    const store = await stores.create();
    await stores.open(store);
    const copy = `${store.path}.copy`;
    copyFileSync(store.path, copy);
    expect(await sqliteStore(copy).readPlants()).to.deep.equal([]);
  });

  it('keeps the application id of the caller', async () => {
    const store = await stores.create();
    await store.run('PRAGMA application_id = 7');
    const storage = await stores.open(store);
    for (const kind of ['added', 'conflict']) {
      const [outcome] = await storage.add([toPlant({ id: 1n, name: 'Aloe' })]);
      expect(outcome).to.have.property('kind', kind);
    }
    await storage.ready();
    expect(await storage.knex.raw('PRAGMA application_id')).to.deep.equal([{ application_id: 7 }]);
  });

  it('never replaces a plant, even if the table does so by itself', async () => {
    const store = await stores.create();
    for (const clause of ['REPLACE', 'IGNORE']) {
      await store.run(`DROP TABLE IF EXISTS plants;
        CREATE TABLE plants (id INTEGER PRIMARY KEY ON CONFLICT ${clause}, name TEXT NOT NULL, tag TEXT)`);
      const storage = await stores.open(store);
      const stored = toPlant({ id: 1n, name: 'Fern' });
      await storage.add([stored]);
      expect(await storage.add([toPlant({ id: 1n, name: 'Moss' })])).to.deep.equal([{ kind: 'conflict', stored }]);
    }
  });

  it('classifies errors by their primary result codes', () => {
    const classes = {
      busy: { BUSY: 5, PROTOCOL: 15 },
      rejected: { TOOBIG: 18, CONSTRAINT: 19, MISMATCH: 20 },
      fileError: { IOERR: 10, CORRUPT: 11, FULL: 13, NOTADB: 26 },
      unavailable: { ERROR: 1, READONLY: 8, CANTOPEN: 14 },
    };
    for (const [kind, codes] of Object.entries(classes))
      for (const [code, errno] of Object.entries(codes))
        expect(sqlite.classify(Object.assign(new Error(), { errno })), code).to.equal(kind);
  });
});
