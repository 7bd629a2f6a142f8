import { inspect } from 'node:util';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { retryWhileBusy } from '#adapters/driven/knex/knex-plant-repository.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { sqliteEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { SqliteFile } from '../../../support/sqlite-file.js';

const PLANT = toPlant({ id: 1n, name: CANARY, tag: CANARY });

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
      INSERT INTO plants (id, name, tag) VALUES (1, NULL, '${CANARY}')`);
    const error = await catchError(readPlants(storage));
    expect(`${error}`).to.equal('StorageUnavailable: a stored row is not a valid plant');
    const [sameId, otherId] = await storage.add([PLANT, toPlant({ id: 2n, name: 'Ficus' })]);
    expect(sameId).to.have.property('kind', 'rejected');
    expect(sameId).to.have.nested.property('error.message', 'its stored row is invalid');
    expect(otherId).to.deep.equal({ kind: 'added' });
  });

  it('reveals no values and no SQL in errors', async () => {
    const store = await stores.create();
    const storage = await stores.open(store);
    await store.run(sqliteEngine.rejectPoison.replace("'poison'", `'${CANARY}'`));
    const [rejected] = await storage.add([PLANT]);
    await store.run('DROP TABLE plants');
    const errors = [rejected, await catchError(storage.add([PLANT])), await catchError(storage.ready())];
    expect(inspect(errors, { showHidden: true, depth: 10 }))
      .to.match(/storage rejected the plant.*storage is unavailable/s)
      .and.not.match(RegExp(`${CANARY}|INSERT INTO|SELECT |json_each|RAISE`));
  });
});

describe('A statement is retried', () => {
  const fail = (errno: number) => Object.assign(new Error('failed'), { errno });
  const [SQLITE_BUSY, SQLITE_FULL] = [5, 13];
  /** Retries work that fails with these errors, then succeeds. Returns the result or the error, and the attempts left. */
  const retry = async (timeoutMs: number, ...failures: Error[]) => {
    const work = async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'done';
    };
    const [result] = await Promise.allSettled([retryWhileBusy(sqlite, timeoutMs, work)]);
    return { ...result, left: failures.length };
  };

  it('while the engine is busy, until its time limit', async () => {
    const busy = fail(SQLITE_BUSY);
    expect(await retry(60_000, busy, busy)).to.deep.equal({ status: 'fulfilled', value: 'done', left: 0 });
    const late = await retry(30, ...Array<Error>(1000).fill(busy));
    expect(late).to.include({ status: 'rejected', reason: busy });
  });

  it('not after another error', async () => {
    const full = fail(SQLITE_FULL);
    expect(await retry(60_000, full, full)).to.deep.equal({ status: 'rejected', reason: full, left: 1 });
  });
});
