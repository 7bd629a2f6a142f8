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

describe('retryWhileBusy', () => {
  const [SQLITE_BUSY, SQLITE_FULL, SQLITE_PROTOCOL] = [5, 13, 15];
  /** Retries work that fails with these numbers, then succeeds. Returns the failures left. */
  const retry = async (timeoutMs: number, failures: number[]) => {
    const work = async () => {
      const errno = failures.shift();
      if (errno !== undefined) throw Object.assign(new Error(), { errno });
    };
    const [{ status }] = await Promise.allSettled([retryWhileBusy(sqlite, timeoutMs, work)]);
    return { status, left: failures.length };
  };

  it('repeats work while the engine is busy, until a time limit, and not after another failure', async () => {
    const busy = [SQLITE_BUSY, SQLITE_PROTOCOL];
    expect(await retry(60_000, [...busy])).to.deep.equal({ status: 'fulfilled', left: 0 });
    expect(await retry(30, Array(1000).fill(SQLITE_BUSY))).to.have.property('status', 'rejected');
    expect(await retry(60_000, [SQLITE_FULL, ...busy])).to.deep.equal({ status: 'rejected', left: 2 });
  });
});
