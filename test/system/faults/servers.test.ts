import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { create, serve } from '../../support/client.js';
import { serverStore } from '../../support/engines.js';
import { plantStore } from '../../support/executable.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { exchange, request } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import type { Operation } from '../history.js';
import { CLIENTS, Load } from '../load.js';
import { PrivateServer, privateServers } from '../private-server.js';
import { Disk } from './disk.js';
import { expectRecovery, type Fault, settingsFor } from './fault.js';

/** The SQL with which an administrator causes and ends a fault: statements separated by semicolons. */
interface SqlFault {
  readonly title: string;
  readonly cause: string;
  readonly end: string;
}

const RELOAD = 'SELECT pg_reload_conf()';
const SET_UP_POSTGRES = 'CREATE ROLE gardener LOGIN; GRANT ALL ON SCHEMA public TO gardener';
const POSTGRES_FAULTS: readonly SqlFault[] = [
  {
    title: 'if the server is read-only',
    cause: `ALTER SYSTEM SET default_transaction_read_only = on; ${RELOAD}`,
    end: `SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; ${RELOAD}`,
  },
  {
    title: 'if a privilege is missing',
    cause: 'REVOKE INSERT ON plants FROM gardener',
    end: 'GRANT INSERT ON plants TO gardener',
  },
  { title: 'if the table is locked', cause: 'BEGIN; LOCK TABLE plants', end: 'ROLLBACK' },
  {
    title: 'if commits hang because the synchronous standby is down',
    cause: `ALTER SYSTEM SET synchronous_standby_names = 'down'; ${RELOAD}`,
    end: `ALTER SYSTEM RESET synchronous_standby_names; ${RELOAD}`,
  },
];

const USER = 'gardener@localhost';
const TABLES = ['plants', 'plant_store_log_syncs', 'plant_store_migrations'];
const GRANTS = TABLES.map((table) => `GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON test.${table} TO ${USER}`);
const SET_UP_MARIADB = `DELETE FROM mysql.db; FLUSH PRIVILEGES; CREATE USER ${USER}; ${GRANTS.join('; ')}`;
const MARIADB_FAULTS: readonly SqlFault[] = [
  { title: 'if the server is read-only', cause: 'SET GLOBAL read_only = 1', end: 'SET GLOBAL read_only = 0' },
  {
    title: 'if a privilege is missing',
    cause: `REVOKE INSERT ON test.plants FROM ${USER}`,
    end: `GRANT INSERT ON test.plants TO ${USER}`,
  },
  {
    title: 'if writes hang because the server is locked for a backup',
    cause: 'FLUSH TABLES WITH READ LOCK',
    end: 'UNLOCK TABLES',
  },
];

describe('A service under load loses nothing and recovers on', () => {
  for (const [kind, setUp, faults] of [
    [privateServers.postgres, SET_UP_POSTGRES, POSTGRES_FAULTS],
    [privateServers.mariadb, SET_UP_MARIADB, MARIADB_FAULTS],
  ] as const) {
    describe(kind.name, () => {
      const folder = temporaryFolder();
      let server: PrivateServer;
      let proxy: FaultyProxy;
      let admin: Knex;

      before(async function () {
        PrivateServer.skipUnlessAvailable(this, kind);
        server = await PrivateServer.install(kind, folder);
        await server.start();
        admin = server.connect();
        await run(setUp);
        await admin.destroy();
      });
      beforeEach(async () => {
        await server.start();
        admin = server.connect();
        proxy = await FaultyProxy.to(server.url);
      });
      afterEach(async () => {
        await proxy.refuseConnections();
        await admin('plants').delete();
        await admin.destroy();
      });

      async function run(statements: string): Promise<void> {
        for (const statement of statements.split('; ')) await admin.raw(statement);
      }
      const serviceUrl = () => Object.assign(new URL(proxy.toProxiedUrl(server.url)), { username: 'gardener' }).href;
      const allFaults: readonly Fault[] = [
        { title: 'if connections are reset', creates: 'succeed or fail', inject: () => proxy.reset() },
        {
          title: 'if packets are lost',
          creates: 'fail',
          inject: () => proxy.losePackets(),
          heal: () => proxy.restore(),
        },
        {
          title: 'if the server crashes',
          creates: 'fail at once',
          inject: () => server.kill(),
          heal: () => server.start(),
        },
        ...faults.map(({ title, cause, end }): Fault => {
          return { title, creates: 'fail', inject: () => run(cause), heal: () => run(end) };
        }),
      ];
      for (const fault of allFaults) {
        it(fault.title, async () => {
          const service = serve(folder, { DATABASE_URL: serviceUrl(), ...settingsFor(fault) });
          await expectRecovery(service, serverStore(server.url, admin), fault);
        });
      }

      it('while a transaction holds one id, which a client keeps creating: others get 200 in each second', async () => {
        const service = serve(folder, { DATABASE_URL: serviceUrl(), STORAGE_TIMEOUT: '1s' });
        const port = await service.port();
        const held = { id: -1n, name: 'held' };
        const transaction = await admin.transaction();
        await transaction('plants').insert({ id: -1, name: 'held' });
        const load = await Load.on(port, 3 * CLIENTS);
        const start = performance.now();
        const SECONDS = 6;
        while (performance.now() - start < 1000 * SECONDS)
          expect(await create(port, held)).to.have.property('outcome', 50301);
        const second = ({ endedAt }: Operation) => Math.floor((endedAt - start) / 1000);
        const created = load.history.filter(({ outcome }) => outcome === 200);
        expect(Array.from({ length: SECONDS }, (_, index) => index)).to.deep.equal(
          [...new Set(created.map(second))].filter((each) => each >= 0 && each < SECONDS),
        );
        await transaction.rollback();
        await load.stop();
        // The last of the creates may have stored it since.
        expect((await create(port, held))?.outcome).to.be.oneOf([200, 40902]);
        expect(await service.stop()).to.equal(0);
      });
    });
  }
});

describe('A server that is read-only', () => {
  const folder = temporaryFolder();

  for (const { title, kind, setUp, cause } of [
    {
      title: 'is named by check, at the start and by readiness on PostgreSQL',
      kind: privateServers.postgres,
      setUp: 'CREATE ROLE gardener LOGIN SUPERUSER',
      cause: 'ALTER ROLE gardener SET default_transaction_read_only = on',
    },
    {
      title: 'is named by check, at the start and by readiness on MariaDB',
      kind: privateServers.mariadb,
      setUp: `GRANT ALL ON test.* TO ${USER} IDENTIFIED BY ''`,
      cause: 'SET GLOBAL read_only = 1',
    },
  ]) {
    it(title, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      const server = await PrivateServer.install(kind, folder);
      await server.start();
      const admin = server.connect();
      await admin.raw(setUp);
      const url = Object.assign(new URL(server.url), { username: 'gardener' });
      const settings = { DATABASE_URL: url.href, MANAGEMENT_PORT: '0' };
      expect((await plantStore(folder, ['migrate'], settings).result()).exitCode).to.equal(0);
      await admin.raw(cause);
      await admin.destroy();
      const named = `the server \\S+:${url.port} is read-only`;
      const check = await plantStore(folder, ['check'], settings).result();
      expect(check.stdout).to.match(RegExp(`^storage: .*; ${named}$`, 'm'));
      const service = serve(folder, settings);
      await exchange(await service.managementPort(), request('GET /readyz'));
      await service.waitForOutput(/"msg":"not ready"/);
      expect(service.stderr).to.match(RegExp(`"msg":"${named}"`));
      expect(service.stderr).to.match(RegExp(`"message":"${named} \\(\\w+\\)".*"msg":"not ready"`));
      await server.kill();
    });
  }
});

describe('While the disk of a database server is full', () => {
  const disk = new Disk();

  for (const { title, kind, options } of [
    { title: 'creates fail on PostgreSQL, until there is space', kind: privateServers.postgres, options: [] },
    {
      title: 'creates fail on MariaDB, until there is space',
      kind: privateServers.mariadb,
      options: ['--innodb-log-file-size=8M'],
    },
  ]) {
    it(title, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      disk.mount(this, 300);
      const server = await PrivateServer.install(kind, disk.path);
      await server.start(options);
      const service = serve(disk.path, { DATABASE_URL: server.url });
      const port = await service.port();
      const name = randomBytes(1000).toString('hex');
      let id = 1n;
      const createUntil = async (outcome: number) => {
        while ((await create(port, { id, name }))?.outcome !== outcome) id++;
      };
      await createUntil(200);
      disk.fill();
      await createUntil(50301);
      disk.free();
      await createUntil(200);
      await server.kill();
    });
  }
});
