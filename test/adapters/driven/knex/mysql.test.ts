import { openMysql } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { databasesOn, mariadbServer, waitForLock } from '../../../support/database-servers.js';
import { toPlant } from '../../../support/plants.js';
import { waitUntil } from '../../../support/wait-until.js';

describe('MariaDB', () => {
  const databases = databasesOn(mariadbServer);

  const TRIGGER = `CREATE TRIGGER low BEFORE INSERT ON plants FOR EACH ROW
    IF NEW.id > 9 THEN SIGNAL SQLSTATE 'HY000'; END IF`;
  const PARTITION = 'PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10))';
  for (const { title, change } of [
    {
      title: 'rejects only the plant that a type rejects',
      change: "ALTER TABLE plants MODIFY name ENUM('Aloe') NOT NULL",
    },
    { title: 'rejects only the plant that no partition takes', change: `ALTER TABLE plants ${PARTITION}` },
    { title: 'rejects only the plant that a trigger rejects with a general SQLSTATE', change: TRIGGER },
  ]) {
    it(title, async () => {
      const url = await databases.create();
      const storage = await openMysql({ url });
      await databases.connect(url).raw(change);
      const plants = [toPlant({ id: 1n, name: 'Aloe' }), toPlant({ id: 10n, name: 'Agave' })];
      expect((await storage.add(plants)).map(({ kind }) => kind)).to.deep.equal(['added', 'rejected']);
      await storage.close();
    });
  }

  it('repeats a write that the cluster rolls back at COMMIT', async () => {
    const url = await databases.create();
    const storage = await openMysql({ url });
    const admin = databases.connect(url);
    await admin.raw('CREATE TABLE conflicts (id INT) ENGINE = MyISAM');
    await admin.raw(`CREATE TRIGGER conflict BEFORE INSERT ON plants FOR EACH ROW BEGIN
      INSERT INTO conflicts VALUES (1);
      IF (SELECT COUNT(*) FROM conflicts) < 3 THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3101; END IF;
    END`);
    expect(await storage.add([toPlant({ id: 1n, name: 'Aloe' })])).to.deep.equal([{ kind: 'added' }]);
    await storage.close();
  });

  it('warns about a table of another engine than InnoDB, and leaves no plant in it', async () => {
    const url = await databases.create();
    await openMysql({ url }).then((storage) => storage.close());
    await databases.connect(url).raw('ALTER TABLE plants ENGINE = MyISAM');
    const storage = await openMysql({ url });
    expect(storage.warnings[0]).to.match(/may lose them: .*engine of the table plants: MyISAM$/);
    await storage.ready();
    expect(await readPlants(storage)).to.deep.equal([]);
    await storage.close();
  });

  it('warns about innodb_flush_log_at_trx_commit=2', async () => {
    const admin = databases.connect();
    await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    try {
      const storage = await openMysql({ url: await databases.create() });
      expect(storage.warnings[0]).to.include('innodb_flush_log_at_trx_commit=2');
      await storage.close();
    } finally {
      await admin.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    }
  });

  it('closes a connection that cannot be prepared', async () => {
    const url = new URL(await databases.create());
    const user = `plant_store_limited_${process.pid}`;
    const admin = databases.connect();
    await admin.raw(`CREATE USER ${user} WITH MAX_QUERIES_PER_HOUR 2`);
    await admin.raw(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${user}`);
    try {
      url.username = user;
      const ER_USER_LIMIT_REACHED = 1226;
      // Longer than the test waits, because an idle connection ends, too.
      const error = await catchError(openMysql({ url: url.href, timeoutMs: 120_000 }));
      expect(error).to.have.nested.property('cause.errno', ER_USER_LIMIT_REACHED);
      await waitUntil('the server has no connection of the user', async () => {
        const [rows] = await admin.raw('SELECT id FROM information_schema.processlist WHERE user = ?', [user]);
        return rows.length === 0;
      });
    } finally {
      await admin.raw(`DROP USER ${user}`);
    }
  });
});

describe('Sessions on MariaDB do not depend on', () => {
  const NAME = 'Ωmega 日本 🌱';
  const plants = [toPlant({ id: 0n, name: NAME }), toPlant({ id: 1n, name: NAME })];
  const databases = databasesOn(mariadbServer);
  const DEFAULTS = "autocommit = 1, completion_type = 'NO_CHAIN', init_connect = '', tx_isolation = DEFAULT";

  /** Opens a storage as a user without privileges on the server, on which `init_connect` has an effect. */
  const openWith = async (settings: string) => {
    const url = new URL(await databases.create());
    const admin = databases.connect();
    await admin.raw("CREATE USER IF NOT EXISTS 'plant_store_test'@'%'");
    await admin.raw(`GRANT ALL ON ${url.pathname.slice(1)}.* TO 'plant_store_test'@'%'`);
    url.username = 'plant_store_test';
    await admin.raw(`SET GLOBAL ${DEFAULTS}`);
    await admin.raw(`SET GLOBAL ${settings}`);
    const storage = await openMysql({ url: url.href });
    await storage.ready();
    return { storage, other: databases.connect(url.href) };
  };
  after(async () => {
    const admin = databases.connect();
    await admin.raw(`SET GLOBAL ${DEFAULTS}`);
    await admin.raw("DROP USER IF EXISTS 'plant_store_test'@'%'");
  });

  for (const { title, settings } of [
    { title: 'autocommit=0 and completion_type=CHAIN', settings: "autocommit = 0, completion_type = 'CHAIN'" },
    { title: 'completion_type=RELEASE', settings: "completion_type = 'RELEASE'" },
    { title: 'init_connect with BEGIN', settings: "init_connect = 'BEGIN'" },
    { title: 'init_connect with SET NAMES', settings: "init_connect = 'SET NAMES latin1'" },
  ]) {
    it(title, async () => {
      const { storage, other } = await openWith(settings);
      expect(await storage.add(plants)).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
      expect(await storage.add(plants)).to.deep.equal(plants.map((stored) => ({ kind: 'conflict', stored })));
      const [rows] = await other.raw('SELECT id, HEX(name) AS name FROM plants ORDER BY id');
      const name = Buffer.from(NAME).toString('hex').toUpperCase();
      expect(rows.map((row: object) => ({ ...row }))).to.deep.equal([0, 1].map((id) => ({ id, name })));
      await storage.close();
    });
  }

  it('the isolation level READ UNCOMMITTED', async () => {
    const { storage, other } = await openWith("tx_isolation = 'READ-UNCOMMITTED'");
    await storage.add(plants.slice(0, 1));
    const transaction = await other.transaction();
    await transaction('plants').insert({ id: 1, name: 'uncommitted' });
    const adding = storage.add(plants);
    await waitForLock(databases.connect());
    await transaction.rollback();
    expect((await adding).map(({ kind }) => kind)).to.deep.equal(['conflict', 'added']);
    await storage.close();
  });
});
