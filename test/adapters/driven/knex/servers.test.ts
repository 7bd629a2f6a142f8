import { inspect } from 'node:util';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { catchError } from '../../../support/catch-error.js';
import { waitForLock } from '../../../support/database-servers.js';
import { openStore, serverEngines } from '../../../support/engines.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { CANARY } from '../../../support/secret-leaks.js';

const ADDED = [{ kind: 'added' }];
const plant = (id: number) => toPlant({ id: BigInt(id), name: 'Aloe' });

describe('A storage on a server', () => {
  for (const engine of serverEngines) {
    describe(engine.name, () => {
      const isPostgres = engine.dialect === postgres;
      const stores = engine.stores();

      it('keeps what it acknowledges, and stores nothing else, while statements are cancelled', async () => {
        const store = await stores.create();
        const user = await stores.createUser(store.url);
        const storage = await stores.open(user);
        if (!isPostgres)
          await store.run(`CREATE PROCEDURE cancel_all() BEGIN
            DECLARE attempts, other INT DEFAULT 0;
            DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
            WHILE attempts < 500 DO
              SELECT id INTO other FROM information_schema.processlist
                WHERE user = '${user.username}' AND command = 'Query' ORDER BY RAND() LIMIT 1;
              KILL QUERY other;
              SET attempts = attempts + 1;
            END WHILE;
          END`);
        const cancelAll = isPostgres
          ? `SELECT pg_cancel_backend(pid) FROM pg_stat_activity, generate_series(1, 100) WHERE usename = '${user.username}'`
          : 'CALL cancel_all()';
        let isCancelling = true;
        const cancel = async () => {
          while (isCancelling) await store.run(cancelAll);
        };
        const cancelling = cancel();
        const sent: number[] = [];
        const acknowledged: number[] = [];
        const addPlants = async () => {
          while (sent.length < 500) {
            const id = sent.push(sent.length) - 1;
            const adding = storage.add([plant(id)]).then(() => acknowledged.push(id));
            await Promise.allSettled([adding, storage.ready()]);
          }
        };
        await Promise.all(Array.from({ length: 10 }, addPlants));
        isCancelling = false;
        await cancelling;
        expect(acknowledged.length, 'some were cancelled').to.be.within(1, sent.length - 1);
        // On every connection of the pool.
        const others = Array.from({ length: 10 }, (_, index) => -1 - index);
        const outcomes = await Promise.all(others.map((id) => storage.add([plant(id)])));
        expect(outcomes).to.deep.equal(others.map(() => ADDED));
        const stored = (await store.readPlants()).map(({ id }) => Number(id));
        expect(stored).to.include.members(acknowledged);
        expect([...sent, ...others]).to.include.members(stored);
      });

      it('is ready again without a restart, although a session keeps the rights with which it began', async () => {
        const store = await stores.create();
        await stores.open(store);
        const user = await stores.createUser(store.url);
        const readOnly = 'default_transaction_read_only';
        const [restrict, allow] = isPostgres
          ? [`ALTER ROLE ${user.username} SET ${readOnly} = on`, `ALTER ROLE ${user.username} RESET ${readOnly}`]
          : [`REVOKE INSERT, UPDATE ON * FROM ${user.username}`, `GRANT INSERT, UPDATE ON * TO ${user.username}`];
        await store.run(restrict);
        const [storage, { knex }] = [await stores.open(user), await stores.open(user)];
        const insert = () => knex('plants').insert({ id: 1, name: 'Aloe' });
        expect(await catchError(insert())).to.be.instanceOf(Error);
        expect(await catchError(storage.add([plant(2)]))).to.be.instanceOf(StorageUnavailable);
        expect(await catchError(storage.ready())).to.be.instanceOf(StorageUnavailable);
        await store.run(allow);
        await storage.ready();
        await insert();
        expect(await storage.add([plant(2)])).to.deep.equal(ADDED);
      });

      it('keeps the connections that work if the server accepts no other one', async () => {
        const store = await stores.create();
        const { knex } = await stores.open(store);
        const limit = isPostgres ? 'CONNECTION LIMIT 1' : 'WITH MAX_USER_CONNECTIONS 1';
        const user = await stores.createUser(store.url, limit);
        const storage = await stores.open(user);
        const connections = isPostgres
          ? knex('pg_stat_activity').where({ usename: user.username }).pluck('pid')
          : knex('information_schema.processlist').where({ user: user.username }).pluck('id');
        const before = await connections.clone();
        const holder = await knex.transaction();
        await holder('plants').insert({ id: 1, name: 'held' });
        const adding = storage.add([plant(1)]);
        await waitForLock(knex);
        // The only connection waits, and the server accepts no other one.
        const error = await catchError(storage.ready());
        expect(error).to.have.nested.property('cause.code', isPostgres ? '53300' : 'ER_USER_LIMIT_REACHED');
        await holder.rollback();
        expect(await adding).to.deep.equal(ADDED);
        await storage.ready();
        expect(await connections.clone())
          .to.deep.equal(before)
          .and.to.have.lengthOf(1);
      });

      it('opens at most maxConnections for transactions of the caller', async () => {
        const { knex } = await stores.open(await stores.create(), { maxConnections: 1, timeoutMs: 300 });
        const first = await knex.transaction();
        expect(await catchError(knex.transaction())).to.match(/^KnexTimeoutError/);
        await first.rollback();
      });

      it('closes idle connections, even if their packets are lost', async () => {
        const proxy = await FaultyProxy.to(engine.url);
        const { url } = await stores.create();
        const storage = await openStore(proxy.toProxiedUrl(url), { timeoutMs: 500 });
        proxy.losePackets();
        await proxy.disconnected();
        await proxy.restore();
        await storage.ready();
        await storage.close();
        await proxy.refuseConnections();
      });

      it('says why it does not open, without the password', async () => {
        const proxy = await FaultyProxy.to(engine.url);
        const url = new URL(proxy.toProxiedUrl(engine.url));
        Object.assign(url, { pathname: '/missing', password: CANARY });
        const failToOpen = async (timeoutMs?: number) => {
          const error = await catchError(openStore(url.href, { timeoutMs }));
          expect(error).to.be.instanceOf(StorageUnavailable);
          expect(inspect(error)).not.to.include(CANARY);
          return error;
        };
        const reason = /: (database "missing" does not exist|Access denied for user 'root'@)/;
        expect(`${await failToOpen()}`).to.match(reason);
        proxy.losePackets();
        expect(await failToOpen(100)).to.have.nested.property('cause.code', 'ETIMEDOUT');
        await proxy.refuseConnections();
        expect(await failToOpen()).to.have.nested.property('cause.code', 'ECONNREFUSED');
        url.searchParams.set(isPostgres ? 'host' : 'socketPath', '/no/such/socket');
        expect(await failToOpen()).to.have.nested.property('cause.code', 'ECONNREFUSED');
      });
    });
  }
});
