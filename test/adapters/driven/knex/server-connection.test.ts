import { inspect } from 'node:util';
import { openMysql } from '@plant-store/adapters/knex';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { readPlants } from '#contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import {
  databasesOn,
  mariadbServer,
  mysqlServer,
  newestPostgresServer,
  postgresServer,
  waitForLock,
} from '../../../support/database-servers.js';
import { openStore } from '../../../support/engines.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { CANARY } from '../../../support/secret-leaks.js';

describe('The connections to a server', () => {
  for (const server of [postgresServer, newestPostgresServer, mariadbServer, mysqlServer]) {
    describe(server.name, () => {
      const isPostgres = server.client === 'pg';
      const databases = databasesOn(server);

      it('keeps what it acknowledges, and stores nothing else, while statements are cancelled', async () => {
        const url = await databases.create();
        // Other tests use the server meanwhile.
        const name = `cancelled-${process.pid}`;
        const storage = await openStore(isPostgres ? `${url}&application_name=${name}` : url);
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
            const adding = storage.add([toPlant({ id, name: 'Aloe' })]).then(() => acknowledged.push(id));
            await Promise.allSettled([adding, storage.ready()]);
          }
        };
        await Promise.all(Array.from({ length: 10 }, addPlants));
        isCancelling = false;
        await cancelling;
        expect(acknowledged.length, 'some were cancelled').to.be.within(1, sent.length - 1);
        // On every connection of the pool.
        const others = Array.from({ length: 10 }, (_, index) => toPlant({ id: -1n - BigInt(index), name: 'Ficus' }));
        const outcomes = await Promise.all(others.map((other) => storage.add([other])));
        expect(outcomes.flat()).to.deep.equal(others.map(() => ({ kind: 'added' })));
        await storage.close();
        const reopened = await openStore(url);
        const stored = (await readPlants(reopened.readAll())).map(({ id }) => id);
        await reopened.close();
        expect(stored).to.include.members(acknowledged);
        expect([...sent, ...others.map(({ id }) => id)]).to.include.members(stored);
      });

      it('opens at most maxConnections for transactions of the caller', async () => {
        const storage = await openStore(await databases.create(), { maxConnections: 1, timeoutMs: 300 });
        const first = await storage.knex.transaction();
        expect(await catchError(storage.knex.transaction())).to.match(/^KnexTimeoutError/);
        await first.rollback();
        await storage.close();
      });

      it('closes idle connections, even if their packets are lost', async () => {
        const proxy = await FaultyProxy.to(server.url);
        const storage = await openStore(proxy.toProxiedUrl(await databases.create()), { timeoutMs: 100 });
        proxy.losePackets();
        await proxy.disconnected();
        await proxy.restore();
        await storage.ready();
        await storage.close();
        await proxy.refuseConnections();
      });

      it('reports the code of a server that does not respond, refuses connections, or has no such socket', async () => {
        const proxy = await FaultyProxy.to(server.url);
        const url = proxy.toProxiedUrl(server.url);
        proxy.losePackets();
        const lost = await catchError(openStore(url, { timeoutMs: 100 }));
        expect(lost).to.have.nested.property('cause.code', 'ETIMEDOUT');
        await proxy.refuseConnections();
        expect(await catchError(openStore(url))).to.have.nested.property('cause.code', 'ECONNREFUSED');
        const socket = new URL(url);
        socket.searchParams.set(isPostgres ? 'host' : 'socketPath', '/no/such/socket');
        expect(await catchError(openStore(socket.href))).to.have.nested.property('cause.code', 'ECONNREFUSED');
      });

      it('reports why it cannot open a database, without the password', async () => {
        const url = Object.assign(new URL(server.url), { pathname: '/no_such_database', password: CANARY });
        const error = await catchError(openStore(url.href));
        expect(error).to.be.instanceOf(StorageUnavailable);
        expect(`${error}`).to.match(/: (database "no_such_database" does not exist|Access denied for user 'root'@)/);
        expect(inspect(error)).to.not.include(CANARY);
      });
    });
  }
});

describe('Sessions on MariaDB do not depend on', () => {
  const NAME = 'Ωmega 日本 🌱';
  const plants = [toPlant({ id: 0n, name: NAME }), toPlant({ id: 1n, name: NAME })];
  const databases = databasesOn(mariadbServer);

  /** Opens a storage as a user without privileges on the server, on which `init_connect` has an effect. */
  const openWith = async (settings: string) => {
    const url = new URL(await databases.create());
    const admin = databases.connect();
    await admin.raw("CREATE USER IF NOT EXISTS 'plant_store_test'@'%'");
    await admin.raw(`GRANT ALL ON ${url.pathname.slice(1)}.* TO 'plant_store_test'@'%'`);
    url.username = 'plant_store_test';
    await admin.raw(`SET GLOBAL ${settings}`);
    const storage = await openMysql({ url: url.href });
    await storage.ready();
    return { storage, other: databases.connect(url.href) };
  };
  after(async () => {
    const admin = databases.connect();
    await admin.raw(
      "SET GLOBAL autocommit = 1, completion_type = 'NO_CHAIN', init_connect = '', tx_isolation = DEFAULT",
    );
    await admin.raw("DROP USER IF EXISTS 'plant_store_test'@'%'");
  });

  for (const { title, settings } of [
    {
      title: 'autocommit=0 and completion_type=CHAIN',
      settings: "autocommit = 0, completion_type = 'CHAIN', init_connect = ''",
    },
    {
      title: 'init_connect with BEGIN',
      settings: "autocommit = 1, completion_type = 'NO_CHAIN', init_connect = 'BEGIN'",
    },
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
    const { storage, other } = await openWith("init_connect = '', tx_isolation = 'READ-UNCOMMITTED'");
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
