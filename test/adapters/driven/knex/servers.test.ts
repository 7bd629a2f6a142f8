import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { type KnexStorage, openMysql, openPostgres } from '../../../../adapters/driven/knex/index.js';
import { mysql } from '../../../../adapters/driven/knex/mysql.js';
import { postgres } from '../../../../adapters/driven/knex/postgres.js';
import { migrate } from '../../../../adapters/driven/knex/schema.js';
import { StorageUnavailable } from '../../../../core/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import {
  databasesOn,
  INNODB_LOCK_WAITS,
  mariadbServer,
  mysqlServer,
  newestPostgresServer,
  postgresServer,
} from '../../../support/database-servers.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { readPlants } from '../../../support/read-plants.js';
import { runContract } from '../../../support/run-contract.js';
import { waitUntil } from '../../../support/wait-until.js';
import { EARLIER_PLANTS, EARLIER_STORES } from './earlier-store.js';

/** A value that must not appear in any error. */
const CANARY = 'canary-4711';
const PLANTS = [toPlant({ id: 1n, name: 'Monstera' })];

for (const server of [postgresServer, newestPostgresServer, mariadbServer, mysqlServer]) {
  describe(`The repository on ${server.name}`, () => {
    const isPostgres = server.client === 'pg';
    const [dialect, openDatabase] = isPostgres ? [postgres, openPostgres] : [mysql, openMysql];
    const databases = databasesOn(server);
    const toClose: KnexStorage[] = [];
    after(() => Promise.all(toClose.map((repository) => repository.close())));

    const open = async (url: string) => {
      const repository = await openDatabase({ url });
      toClose.push(repository);
      return repository;
    };

    describe('meets the contract:', () => {
      let proxy: FaultyProxy;
      let url: string;
      before(async () => {
        proxy = await FaultyProxy.to(server.url, isPostgres ? 5432 : 3306);
      });
      after(() => proxy.refuseConnections());
      const reopen = () => openDatabase({ url });
      const openNew = async () => {
        url = proxy.toProxiedUrl(await databases.create());
        return reopen();
      };
      const whileUnavailable = async (work: () => Promise<void>) => {
        await proxy.refuseConnections();
        await work().finally(() => proxy.restore());
      };
      runContract(plantRepositoryContract({ open: openNew, reopen, openAnother: reopen, whileUnavailable }));
      // Separate, because the connection of the tests would count as one of the repository.
      const rejecting = plantRepositoryContract({
        open: async () => {
          const repository = await openNew();
          await databases.connect(url).raw("ALTER TABLE plants ADD CHECK (name <> 'poison')");
          return repository;
        },
        rejectedPlant: () => toPlant({ id: 7_000_001n, name: 'poison', tag: CANARY }),
      });
      runContract(rejecting, (group) => group === 'rejected plants');
    });

    it('reads large names in small pages', async () => {
      const repository = await open(await databases.create());
      const name = '🌱'.repeat(256 * 1024);
      const plants = Array.from({ length: 20 }, (_, id) => toPlant({ id: BigInt(id), name: `${id}${name}` }));
      await repository.add(plants);
      const pages: number[] = [];
      for await (const page of repository.readAll()) pages.push(page.length);
      expect(Math.max(...pages), 'a page is bounded in bytes').to.be.below(10);
    });

    it('migrates an empty database for three instances that start concurrently', async () => {
      const url = await databases.create();
      const instances = await Promise.all([open(url), open(url), open(url)]);
      expect(await instances[0].add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
      expect(await instances[2].add(PLANTS)).to.have.nested.property('[0].kind', 'conflict');
    });

    it('opens and writes to a store of an earlier version', async () => {
      const url = await databases.create();
      const admin = databases.connect(url);
      for (const statement of EARLIER_STORES[server.client]) await admin.raw(statement);
      const repository = await open(url);
      expect(repository.schema).not.to.equal('created');
      expect(await readPlants(repository.readAll())).to.deep.equal(EARLIER_PLANTS.map(toPlant));
      expect(await repository.add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
    });

    it('repeats a write that the server ends because of a deadlock', async () => {
      const url = await databases.create();
      const repository = await open(url);
      const other = await databases.connect(url).transaction();
      // More rows than the write, because MariaDB ends the smaller transaction.
      await other('plants').insert([2, 3, 4, 5].map((id) => ({ id, name: 'x' })));
      const adding = repository.add([1n, 2n].map((id) => toPlant({ id, name: 'Aloe' })));
      // Until the write has inserted one plant and waits for the other.
      await setTimeout(300);
      await other('plants').insert({ id: 1, name: 'x' });
      await other.rollback();
      expect(await adding).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
    });

    it('keeps what it acknowledges and stores nothing else while statements are cancelled', async () => {
      const url = await databases.create();
      // Other tests use the server meanwhile.
      const name = `cancelled-${process.pid}`;
      const repository = await open(isPostgres ? `${url}&application_name=${name}` : url);
      const admin = databases.connect(url);
      if (!isPostgres)
        await admin.raw(`CREATE PROCEDURE cancel_all() BEGIN
            DECLARE attempts, other INT DEFAULT 0;
            DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
            WHILE attempts < 500 DO
              SELECT id INTO other FROM information_schema.processlist
                WHERE db = DATABASE() AND command = 'Query' AND id <> CONNECTION_ID() ORDER BY RAND() LIMIT 1;
              KILL QUERY other;
              SET attempts = attempts + 1;
            END WHILE;
          END`);
      const cancelAll = isPostgres
        ? `SELECT pg_cancel_backend(pid) FROM pg_stat_activity, generate_series(1, 100) WHERE application_name = '${name}'`
        : 'CALL cancel_all()';
      let isCancelling = true;
      const cancelling = (async () => {
        while (isCancelling) await admin.raw(cancelAll);
      })();
      const sent: bigint[] = [];
      const acknowledged: bigint[] = [];
      const addPlants = async () => {
        while (sent.length < 2000) {
          const id = BigInt(sent.length);
          sent.push(id);
          const adding = repository.add([toPlant({ id, name: 'Aloe' })]).then(() => acknowledged.push(id));
          await Promise.allSettled([adding, repository.ready()]);
        }
      };
      await Promise.all(Array.from({ length: 10 }, addPlants));
      isCancelling = false;
      await cancelling;
      expect(acknowledged.length, 'some were cancelled').to.be.within(1, sent.length - 1);
      // On every connection of the pool.
      const others = Array.from({ length: 10 }, (_, index) => toPlant({ id: -1n - BigInt(index), name: 'Ficus' }));
      const outcomes = await Promise.all(others.map((other) => repository.add([other])));
      expect(outcomes.flat()).to.deep.equal(others.map(() => ({ kind: 'added' })));
      await repository.close();
      const stored = (await readPlants((await open(url)).readAll())).map(({ id }) => id);
      expect(stored).to.include.members(acknowledged);
      expect([...sent, ...others.map(({ id }) => id)]).to.include.members(stored);
    });

    for (const [title, sql] of [
      ['without the table rejects creates, is not ready, and does not open', 'DROP TABLE plants'],
      [
        'with a renamed column rejects creates, is not ready, and does not open',
        'ALTER TABLE plants RENAME COLUMN tag TO kind',
      ],
    ] as const) {
      it(title, async () => {
        const url = await databases.create();
        const repository = await open(url);
        await databases.connect(url).raw(sql);
        expect(await catchError(repository.add(PLANTS))).to.be.instanceOf(StorageUnavailable);
        expect(await catchError(repository.ready())).to.be.instanceOf(StorageUnavailable);
        for (const readOnly of [false, true]) {
          const error = await catchError(openDatabase({ url, readOnly }));
          expect(`${error}`).to.match(/^StorageUnavailable: cannot open .*: cannot read the table plants: \w/);
        }
      });
    }

    it('migrates in several statements, also after a crash between them', async () => {
      const url = await databases.create();
      const repository = await open(url);
      const type = isPostgres ? 'TEXT' : 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
      const statements = [
        `ALTER TABLE plants ADD COLUMN species ${type}`,
        'ALTER TABLE plants ADD COLUMN width BIGINT',
        'CREATE INDEX plants_by_width ON plants (width)',
      ];
      const migrateBy = (...added: readonly string[]) =>
        migrate(databases.connect(url), { ...dialect, migrations: { ...dialect.migrations, '900_species': added } });
      expect(await catchError(migrateBy(...statements, 'SELECT nonsense'))).to.be.instanceOf(Error);
      expect((await migrateBy(...statements)).schema).to.equal('migrated');
      expect(await repository.add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
    });

    it('opens at most maxConnections for transactions of the caller', async () => {
      const repository = await openDatabase({ url: await databases.create(), maxConnections: 1, timeoutMs: 300 });
      const first = await repository.knex.transaction();
      expect(await catchError(repository.knex.transaction())).to.match(/^KnexTimeoutError/);
      await first.rollback();
      await repository.close();
    });

    it('closes idle connections while their packets are lost', async () => {
      const proxy = await FaultyProxy.to(server.url, isPostgres ? 5432 : 3306);
      const url = proxy.toProxiedUrl(await databases.create());
      const repository = await openDatabase({ url, timeoutMs: 100 });
      proxy.losePackets();
      await proxy.disconnected();
      await proxy.restore();
      await repository.ready();
      await repository.close();
      await proxy.refuseConnections();
    });

    it('reports the code of a server that does not respond', async () => {
      const proxy = await FaultyProxy.to(server.url, isPostgres ? 5432 : 3306);
      const url = proxy.toProxiedUrl(server.url);
      proxy.losePackets();
      const silent = await catchError(openDatabase({ url, timeoutMs: 100 }));
      await proxy.refuseConnections();
      const refused = await catchError(openDatabase({ url }));
      const socket = new URL(url);
      socket.searchParams.set(isPostgres ? 'host' : 'socketPath', '/no/such/socket');
      const missing = await catchError(openDatabase({ url: socket.href }));
      expect([silent, refused, missing].map((error) => Object(error).cause.code)).to.deep.equal([
        ...['ETIMEDOUT', 'ECONNREFUSED', 'ECONNREFUSED'],
      ]);
    });

    it('reports why it cannot open a database, without the password', async () => {
      const url = new URL(server.url);
      url.pathname = '/no_such_database';
      url.password = CANARY;
      const error = await catchError(openDatabase({ url: url.href }));
      expect(error).to.be.instanceOf(StorageUnavailable);
      expect(`${error}`).to.match(/: (database "no_such_database" does not exist|Access denied for user 'root'@)/);
      expect(inspect(error)).to.not.include(CANARY);
    });

    it('warns about a table that the server does not keep in a crash, and leaves nothing in it', async () => {
      const url = await databases.create();
      await open(url);
      await databases.connect(url).raw(`ALTER TABLE plants ${isPostgres ? 'SET UNLOGGED' : 'ENGINE = MyISAM'}`);
      const repository = await open(url);
      expect(repository.warning).to.match(/may lose them: .*the table plants/);
      await repository.ready();
      expect(await readPlants(repository.readAll())).to.deep.equal([]);
    });

    it('warns about a setting that makes the server acknowledge writes before they are durable', async () => {
      const url = new URL(await databases.create());
      const admin = databases.connect();
      if (isPostgres) url.searchParams.set('options', `${url.searchParams.get('options')} -c synchronous_commit=off`);
      // MariaDB has only a global setting.
      const setFlush = async (value: number) => {
        if (!isPostgres) await admin.raw(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`);
      };
      await setFlush(2);
      try {
        const { warning } = await open(url.href);
        expect(warning).to.include(isPostgres ? 'synchronous_commit=off' : 'innodb_flush_log_at_trx_commit=2');
      } finally {
        await setFlush(1);
      }
    });
  });
}

describe('The repository on MariaDB', () => {
  const databases = databasesOn(mariadbServer);

  for (const [title, change] of [
    ['rejects only the plant whose name the type does not allow', "MODIFY name ENUM('Aloe') NOT NULL"],
    [
      'rejects only the plant whose id no partition takes',
      'PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10))',
    ],
    ['rejects only the plant that a trigger rejects with a general SQLSTATE', undefined],
  ] as const) {
    it(title, async () => {
      const url = await databases.create();
      const repository = await openMysql({ url });
      const signal = `IF NEW.id > 9 THEN SIGNAL SQLSTATE 'HY000'; END IF`;
      const trigger = `CREATE TRIGGER low BEFORE INSERT ON plants FOR EACH ROW ${signal}`;
      await databases.connect(url).raw(change ? `ALTER TABLE plants ${change}` : trigger);
      const plants = [toPlant({ id: 1n, name: 'Aloe' }), toPlant({ id: 10n, name: 'Ficus' })];
      expect((await repository.add(plants)).map(({ kind }) => kind)).to.deep.equal(['added', 'rejected']);
      await repository.close();
    });
  }

  describe('does not depend on the settings that the server gives a session:', () => {
    const NAME = 'Ωmega 日本 🌱';
    const plants = [toPlant({ id: 0n, name: NAME }), toPlant({ id: 1n, name: NAME })];

    /** Opens a repository as a user without privileges on the server, on which `init_connect` has an effect. */
    const openWith = async (settings: string) => {
      const url = new URL(await databases.create());
      const admin = databases.connect();
      await admin.raw("CREATE USER IF NOT EXISTS 'plant_store_test'@'%'");
      await admin.raw(`GRANT ALL ON ${url.pathname.slice(1)}.* TO 'plant_store_test'@'%'`);
      url.username = 'plant_store_test';
      await admin.raw(`SET GLOBAL ${settings}`);
      const repository = await openMysql({ url: url.href });
      await repository.ready();
      return { repository, other: databases.connect(url.href) };
    };
    after(async () => {
      const admin = databases.connect();
      await admin.raw(
        "SET GLOBAL autocommit = 1, completion_type = 'NO_CHAIN', init_connect = '', tx_isolation = DEFAULT",
      );
      await admin.raw("DROP USER IF EXISTS 'plant_store_test'@'%'");
    });

    for (const [title, settings] of [
      ['autocommit=0 and completion_type=CHAIN', "autocommit = 0, completion_type = 'CHAIN', init_connect = ''"],
      ['init_connect with BEGIN', "autocommit = 1, completion_type = 'NO_CHAIN', init_connect = 'BEGIN'"],
      ['init_connect with SET NAMES', "init_connect = 'SET NAMES latin1'"],
    ] as const) {
      it(title, async () => {
        const { repository, other } = await openWith(settings);
        expect(await repository.add(plants)).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
        expect(await repository.add(plants)).to.deep.equal(plants.map((stored) => ({ kind: 'conflict', stored })));
        const [rows] = await other.raw('SELECT id, HEX(name) AS name FROM plants ORDER BY id');
        const name = Buffer.from(NAME).toString('hex').toUpperCase();
        expect(rows.map((row: object) => ({ ...row }))).to.deep.equal([0, 1].map((id) => ({ id, name })));
        await repository.close();
      });
    }

    it('the isolation level READ UNCOMMITTED', async () => {
      const { repository, other } = await openWith("init_connect = '', tx_isolation = 'READ-UNCOMMITTED'");
      await repository.add(plants.slice(0, 1));
      const admin = databases.connect();
      const transaction = await other.transaction();
      await transaction('plants').insert({ id: 1, name: 'uncommitted' });
      const adding = repository.add(plants);
      await waitUntil('the insert waits', async () => {
        const [rows] = await admin.raw(INNODB_LOCK_WAITS);
        return rows.length > 0;
      });
      await transaction.rollback();
      expect((await adding).map(({ kind }) => kind)).to.deep.equal(['conflict', 'added']);
      await repository.close();
    });
  });
});

describe('The repository on MySQL', () => {
  const databases = databasesOn(mysqlServer);

  for (const [title, ssl] of [
    ['authenticates by caching_sha2_password without TLS', undefined],
    ['authenticates by caching_sha2_password with TLS', '{"rejectUnauthorized":false}'],
  ] as const) {
    it(title, async () => {
      const url = new URL(await databases.create());
      const admin = databases.connect();
      const user = `plants_${ssl ? 'tls' : 'plain'}_${process.pid}`;
      await admin.raw(`CREATE USER ${user} IDENTIFIED WITH caching_sha2_password BY 'correct-horse'`);
      await admin.raw(`GRANT ALL ON ${url.pathname.slice(1)}.* TO ${user}`);
      Object.assign(url, { username: user, password: 'correct-horse' });
      if (ssl) url.searchParams.set('ssl', ssl);
      const repository = await openMysql({ url: url.href });
      expect(await repository.add(PLANTS)).to.deep.equal([{ kind: 'added' }]);
      const [[status]] = await repository.knex.raw("SHOW STATUS LIKE 'Ssl_cipher'");
      expect(status.Value !== '').to.equal(ssl !== undefined);
      await repository.close();
      await admin.raw(`DROP USER ${user}`);
    });
  }
});
