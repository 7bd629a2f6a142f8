import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { waitForLock } from '../../../support/database-servers.js';
import { mariadbEngine, type TestStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';
import { waitUntil } from '../../../support/wait-until.js';

const ADDED = { kind: 'added' };
const NAME = 'Ωmega 日本 🌱';
const plant = (id: number) => toPlant({ id: BigInt(id), name: NAME });

describe('MariaDB', () => {
  const stores = mariadbEngine.stores();

  it('rejects only the plant that a type, a partition, or a trigger with a general SQLSTATE rejects', async () => {
    for (const change of [
      `ALTER TABLE plants MODIFY tag ENUM('good')`,
      'ALTER TABLE plants PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10))',
      `CREATE TRIGGER low BEFORE INSERT ON plants FOR EACH ROW IF NEW.id > 9 THEN SIGNAL SQLSTATE 'HY000'; END IF`,
    ]) {
      const store = await stores.create();
      const storage = await stores.open(store);
      await store.run(change);
      const outcomes = await storage.add([plant(1), toPlant({ id: 10n, name: NAME, tag: 'bad' })]);
      expect(
        outcomes.map(({ kind }) => kind),
        change,
      ).to.deep.equal(['added', 'rejected']);
    }
  });

  it('repeats a write that the cluster rolls back at COMMIT', async () => {
    const store = await stores.create();
    const storage = await stores.open(store);
    await store.run('CREATE TABLE conflicts (id INT) ENGINE = MyISAM');
    await store.run(`CREATE TRIGGER conflict BEFORE INSERT ON plants FOR EACH ROW BEGIN
      INSERT INTO conflicts VALUES (1);
      IF (SELECT COUNT(*) FROM conflicts) < 3 THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3101; END IF;
    END`);
    expect(await storage.add([plant(1)])).to.deep.equal([ADDED]);
  });

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

  it('closes a connection that cannot be prepared', async () => {
    const store = await stores.create();
    const { knex } = await stores.open(store);
    const user = await stores.createUser(store.url, 'WITH MAX_QUERIES_PER_HOUR 2');
    const ER_USER_LIMIT_REACHED = 1226;
    // Longer than the test waits, because an idle connection ends, too.
    const error = await catchError(stores.open(user, { timeoutMs: 120_000 }));
    expect(error).to.have.nested.property('cause.errno', ER_USER_LIMIT_REACHED);
    const connections = knex('information_schema.processlist').where({ user: user.username });
    await waitUntil('the server has no connection of the user', async () => (await connections.clone()).length === 0);
  });
});

describe('Sessions on MariaDB do not depend on', () => {
  const stores = mariadbEngine.stores();
  let store: TestStore;
  beforeEach(async () => {
    store = await stores.create();
  });
  afterEach(() =>
    store.run("SET GLOBAL autocommit = 1, completion_type = 'NO_CHAIN', init_connect = '', tx_isolation = DEFAULT"),
  );

  /** Opens a storage as a user without privileges on the server, on which `init_connect` has an effect. */
  const openWith = async (settings: string) => {
    await store.run(`SET GLOBAL ${settings}`);
    const storage = await stores.open(await stores.createUser(store.url));
    await storage.ready();
    return storage;
  };

  for (const { title, settings } of [
    { title: 'autocommit=0 and completion_type=CHAIN', settings: "autocommit = 0, completion_type = 'CHAIN'" },
    { title: 'completion_type=RELEASE', settings: "completion_type = 'RELEASE'" },
    { title: 'init_connect with BEGIN', settings: "init_connect = 'BEGIN'" },
    { title: 'init_connect with SET NAMES', settings: "init_connect = 'SET NAMES latin1'" },
  ]) {
    it(title, async () => {
      const storage = await openWith(settings);
      const plants = [plant(0), plant(1)];
      expect(await storage.add(plants)).to.deep.equal([ADDED, ADDED]);
      expect(await storage.add(plants)).to.deep.equal(plants.map((stored) => ({ kind: 'conflict', stored })));
      expect((await store.readPlants()).map(toPlant)).to.deep.equal(plants);
    });
  }

  it('the isolation level READ UNCOMMITTED', async () => {
    const storage = await openWith("tx_isolation = 'READ-UNCOMMITTED'");
    const { knex } = await stores.open(store);
    await storage.add([plant(0)]);
    const transaction = await knex.transaction();
    await transaction('plants').insert({ id: 1, name: 'uncommitted' });
    const adding = storage.add([plant(0), plant(1)]);
    await waitForLock(knex);
    await transaction.rollback();
    expect((await adding).map(({ kind }) => kind)).to.deep.equal(['conflict', 'added']);
  });
});
