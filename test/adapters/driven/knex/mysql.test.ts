import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { mysql } from '#adapters/driven/knex/mysql.js';
import { mariadbEngine } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

const ADDED = { kind: 'added' };
const NAME = 'Ωmega 日本 🌱';
const plant = (id: number) => toPlant({ id: BigInt(id), name: NAME });

describe('MariaDB', () => {
  const stores = mariadbEngine.stores();

  it('warns about innodb_flush_log_at_trx_commit=2 and a table of another engine, and leaves no plant in it', async () => {
    const store = await stores.create();
    await stores.open(store);
    await store.run('ALTER TABLE plants ENGINE = MyISAM');
    await store.run('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    const storage = await stores.open(store);
    await store.run('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    expect(storage.warnings[0]).to.match(/may lose them: innodb_flush_log_at_trx_commit=2, .*: MyISAM$/);
    await storage.ready();
    expect(await store.readPlants()).to.deep.equal([]);
  });
});

describe('On MariaDB, adds are committed and exact although new sessions begin with', () => {
  const stores = mariadbEngine.stores();
  afterEach(() =>
    stores.admin.raw(
      "SET GLOBAL autocommit = 1, completion_type = 'NO_CHAIN', init_connect = '', tx_isolation = DEFAULT",
    ),
  );

  for (const settings of [
    "autocommit = 0, completion_type = 'CHAIN', tx_isolation = 'READ-UNCOMMITTED'",
    "completion_type = 'RELEASE'",
    "init_connect = 'BEGIN'",
    "init_connect = 'SET NAMES latin1'",
  ]) {
    it(settings, async () => {
      const store = await stores.create();
      await store.run(`SET GLOBAL ${settings}`);
      // On a user without privileges on the server, init_connect has an effect.
      const storage = await stores.open(await stores.createUser(store));
      await storage.ready();
      const plants = [plant(0), plant(1)];
      expect(await storage.add(plants)).to.deep.equal([ADDED, ADDED]);
      expect(await storage.add(plants)).to.deep.equal(plants.map((stored) => ({ kind: 'conflict', stored })));
      expect((await store.readPlants()).map(toPlant)).to.deep.equal(plants);
      const [[session]] = await storage.knex.raw('SELECT @@tx_isolation AS isolation');
      expect(session).to.deep.equal({ isolation: 'REPEATABLE-READ' });
    });
  }
});

it('MySQL tells conflicts, after which a write is repeated, and rejected plants from failures', () => {
  for (const [errno, sqlState, kind] of [
    [1213, '40001', 'busy'], // A deadlock.
    [1020, 'HY000', 'busy'], // The row has changed since it was read.
    [3101, 'HY000', 'busy'], // Another node of a cluster has written the row.
    [1265, '01000', 'rejected'], // Not a value of an ENUM.
    [1526, 'HY000', 'rejected'], // No partition for the row.
    [1644, 'HY000', 'rejected'], // A trigger with a SIGNAL.
    [1290, 'HY000', 'unavailable'], // The server is read-only.
  ] as const)
    expect(mysql.classify(Object.assign(new Error(), { errno, sqlState })), `${errno}`).to.equal(kind);
});
