import { expect } from 'chai';
import { describe, it } from 'mocha';
import { retryWhileBusy } from '#adapters/driven/knex/knex-plant-repository.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { sqliteEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { SqliteFile } from '../../../support/sqlite-file.js';

const PLANT = toPlant({ id: 1n, name: 'Aloe' });

// The contract in engines.test.ts has the rest.
describe('KnexPlantRepository', () => {
  const stores = sqliteEngine.stores();

  it('commits a write before it reports a stored plant, which another program may not have synced yet', async () => {
    const store = await stores.create();
    const storage = await stores.open(store);
    await storage.add([PLANT]);
    const other = await SqliteFile.open(store.path);
    // Changes with each commit of another connection.
    const readVersion = () => other.all('PRAGMA data_version');
    const before = await readVersion();
    expect(await storage.add([PLANT])).to.deep.equal([{ kind: 'conflict', stored: PLANT }]);
    expect(await readVersion()).not.to.deep.equal(before);
    await other.close();
  });

  it('rejects an invalid row written by another program, which affects only plants with its id', async () => {
    const store = await stores.create();
    const storage = await stores.open(store);
    await store.run(`CREATE TABLE loose AS SELECT * FROM plants; DROP TABLE plants;
      ALTER TABLE loose RENAME TO plants; CREATE UNIQUE INDEX plants_id ON plants (id);
      INSERT INTO plants (id, name) VALUES (1, NULL)`);
    const error = await catchError(readPlants(storage));
    expect(`${error}`).to.equal('StorageUnavailable: a stored row is not a valid plant');
    const [sameId, otherId] = await storage.add([PLANT, toPlant({ id: 2n, name: 'Ficus' })]);
    expect(sameId).to.have.property('kind', 'rejected');
    expect(sameId).to.have.nested.property('error.message', 'its stored row is invalid');
    expect(otherId).to.deep.equal({ kind: 'added' });
  });
});

it('retryWhileBusy repeats work while the engine is busy, until a time limit, and not after another failure', async () => {
  const [SQLITE_BUSY, SQLITE_FULL, SQLITE_PROTOCOL] = [5, 13, 15];
  const failures = [SQLITE_BUSY, SQLITE_PROTOCOL, SQLITE_FULL];
  const fail = async () => {
    throw Object.assign(new Error(), { errno: failures.shift() ?? SQLITE_BUSY });
  };
  expect(await catchError(retryWhileBusy(sqlite, 60_000, fail))).to.have.property('errno', SQLITE_FULL);
  expect(await catchError(retryWhileBusy(sqlite, 30, fail))).to.have.property('errno', SQLITE_BUSY);
});
