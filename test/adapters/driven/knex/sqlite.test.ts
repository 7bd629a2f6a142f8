import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { sqliteEngine, sqliteStore } from '../../../support/engines.js';

describe('SQLite', () => {
  const stores = sqliteEngine.stores();

  it('has the schema in the file itself after a start, and not in the write-ahead log', async () => {
    const store = await stores.create();
    await stores.open(store);
    const copy = `${store.path}.copy`;
    copyFileSync(store.path, copy);
    expect(await sqliteStore(copy).readPlants()).to.deep.equal([]);
  });

  it('classifies BUSY and PROTOCOL as busy, and TOOBIG, CONSTRAINT and MISMATCH as rejected', () => {
    const classes = [5, 15, 18, 19, 20, 13].map((errno) => sqlite.classify(Object.assign(new Error(), { errno })));
    expect(classes).to.deep.equal(['busy', 'busy', 'rejected', 'rejected', 'rejected', 'unavailable']);
  });
});
