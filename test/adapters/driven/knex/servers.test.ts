import { inspect } from 'node:util';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
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

describe('A storage on a server', () => {
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
          while (sent.length < 500) {
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
        const stored = (await readPlants(reopened)).map(({ id }) => id);
        await reopened.close();
        expect(stored).to.include.members(acknowledged);
        expect([...sent, ...others.map(({ id }) => id)]).to.include.members(stored);
      });

      it('is ready again without a restart, although a session keeps the rights with which it began', async () => {
        const url = await databases.create();
        const user = `plant_store_test_${process.pid}`;
        const schema = isPostgres ? url.replace(/.*search_path%3D/, '') : new URL(url).pathname.slice(1);
        const rights = isPostgres ? rightsOnPostgres(user, schema) : rightsOnMysql(user, schema);
        const admin = databases.connect(url);
        const run = async (statements: readonly string[]) => {
          for (const statement of statements) await admin.raw(statement);
        };
        await openStore(url).then((storage) => storage.close());
        await run(rights.restrict);
        try {
          const restricted = Object.assign(new URL(url), { username: user }).href;
          const [storage, other] = [await openStore(restricted), await openStore(restricted)];
          const insert = () => other.knex('plants').insert({ id: 1, name: 'Aloe' });
          const add = () => storage.add([toPlant({ id: 2n, name: 'Ficus' })]);
          expect(await catchError(insert())).to.be.instanceOf(Error);
          expect(await catchError(add())).to.be.instanceOf(StorageUnavailable);
          expect(await catchError(storage.ready())).to.be.instanceOf(StorageUnavailable);
          await run(rights.allow);
          await storage.ready();
          await insert();
          expect(await add()).to.deep.equal([{ kind: 'added' }]);
          await Promise.all([storage.close(), other.close()]);
        } finally {
          await run(rights.drop);
        }
      });

      it('keeps the connections that work if the server accepts no other one', async () => {
        const url = await databases.create();
        const user = `plant_store_limit_${process.pid}`;
        const schema = isPostgres ? url.replace(/.*search_path%3D/, '') : new URL(url).pathname.slice(1);
        const rights = isPostgres ? limitedOnPostgres(user, schema) : limitedOnMysql(user, schema);
        const admin = databases.connect(url);
        for (const statement of rights.create) await admin.raw(statement);
        try {
          const storage = await openStore(Object.assign(new URL(url), { username: user }).href);
          const readConnections = async () => {
            const result = await admin.raw(rights.connections, [user]);
            return (result.rows ?? result[0]).map(({ id }: { id: number }) => id);
          };
          const before = await readConnections();
          const holder = await databases.connect(url).transaction();
          await holder('plants').insert({ id: 1, name: 'held' });
          const adding = storage.add([toPlant({ id: 1n, name: 'Aloe' })]);
          await waitForLock(admin);
          // The only connection waits, and the server accepts no other one.
          expect(await catchError(storage.ready())).to.have.nested.property('cause.code', rights.code);
          await holder.rollback();
          expect(await adding).to.deep.equal([{ kind: 'added' }]);
          await storage.ready();
          expect(await readConnections())
            .to.deep.equal(before)
            .and.to.have.lengthOf(1);
          await storage.close();
        } finally {
          for (const statement of rights.drop) await admin.raw(statement);
        }
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

/** Statements that create a user with restricted rights, end the restriction, and drop the user. */
function rightsOnPostgres(user: string, schema: string) {
  return {
    restrict: [
      `CREATE ROLE ${user} LOGIN`,
      `GRANT ALL ON SCHEMA ${schema} TO ${user}`,
      `GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`,
      `ALTER ROLE ${user} SET default_transaction_read_only = on`,
    ],
    allow: [`ALTER ROLE ${user} RESET default_transaction_read_only`],
    drop: [`DROP OWNED BY ${user}`, `DROP ROLE ${user}`],
  };
}

function rightsOnMysql(user: string, database: string) {
  return {
    restrict: [`CREATE USER ${user}`, `GRANT SELECT ON ${database}.* TO ${user}`],
    allow: [`GRANT INSERT, UPDATE ON ${database}.* TO ${user}`],
    drop: [`DROP USER ${user}`],
  };
}

/** Statements that create a user with one connection, read the ids of its connections, and drop the user. */
function limitedOnPostgres(user: string, schema: string) {
  return {
    create: [`CREATE ROLE ${user} LOGIN CONNECTION LIMIT 1`, `GRANT ALL ON SCHEMA ${schema} TO ${user}`],
    code: '53300',
    connections: 'SELECT pid AS id FROM pg_stat_activity WHERE usename = ?',
    drop: [`DROP OWNED BY ${user}`, `DROP ROLE ${user}`],
  };
}

function limitedOnMysql(user: string, database: string) {
  return {
    create: [`CREATE USER ${user} WITH MAX_USER_CONNECTIONS 1`, `GRANT ALL ON ${database}.* TO ${user}`],
    code: 'ER_USER_LIMIT_REACHED',
    connections: 'SELECT id FROM information_schema.processlist WHERE user = ?',
    drop: [`DROP USER ${user}`],
  };
}
