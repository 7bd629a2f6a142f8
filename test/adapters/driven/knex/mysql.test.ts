import { openMysql } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { databasesOn, mariadbServer } from '../../../support/database-servers.js';
import { toPlant } from '../../../support/plants.js';

describe('MariaDB', () => {
  const databases = databasesOn(mariadbServer);

  for (const { title, change } of [
    {
      title: 'rejects only the plant whose name the type does not allow',
      change: "ALTER TABLE plants MODIFY name ENUM('Aloe') NOT NULL",
    },
    {
      title: 'rejects only the plant whose id no partition takes',
      change: 'ALTER TABLE plants PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10))',
    },
    {
      title: 'rejects only the plant that a trigger rejects with a general SQLSTATE',
      change: `CREATE TRIGGER low BEFORE INSERT ON plants FOR EACH ROW
        IF NEW.id > 9 THEN SIGNAL SQLSTATE 'HY000'; END IF`,
    },
    {
      title: 'rejects only the plant that violates another unique index',
      change: 'ALTER TABLE plants ADD UNIQUE (name(1))',
    },
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

  it('warns about a table of another engine than InnoDB, and leaves no plant in it', async () => {
    const url = await databases.create();
    await openMysql({ url }).then((storage) => storage.close());
    await databases.connect(url).raw('ALTER TABLE plants ENGINE = MyISAM');
    const storage = await openMysql({ url });
    expect(storage.warning).to.match(/may lose them: .*engine of the table plants: MyISAM$/);
    await storage.ready();
    expect(await readPlants(storage.readAll())).to.deep.equal([]);
    await storage.close();
  });

  it('warns about innodb_flush_log_at_trx_commit=2', async () => {
    const admin = databases.connect();
    const setFlush = (value: number) => admin.raw(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
    await setFlush(2);
    try {
      const storage = await openMysql({ url: await databases.create() });
      expect(storage.warning).to.include('innodb_flush_log_at_trx_commit=2');
      await storage.close();
    } finally {
      await setFlush(1);
    }
  });
});
