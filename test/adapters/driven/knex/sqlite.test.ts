import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
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
});
