import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { openStore, serverStore } from '../../support/engines.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { CLIENTS, Load } from '../load.js';
import { PrivateServer, privateServers } from '../private-server.js';
import { Disk } from './disk.js';
import { expectRecovery, type Fault } from './fault.js';

const { postgres, mariadb } = privateServers;
const RELOAD = 'SELECT pg_reload_conf()';
const USER = 'gardener@localhost';
const TABLES = ['plants', 'plant_store_log_syncs', 'plant_store_migrations'];
const GRANTS = TABLES.map((table) => `GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON test.${table} TO ${USER}`);

/** The SQL with which an administrator causes and ends faults: statements separated by semicolons. */
const SERVERS = [
  {
    kind: postgres,
    setUp: 'CREATE ROLE gardener LOGIN; GRANT ALL ON SCHEMA public TO gardener',
    readOnly: `ALTER SYSTEM SET default_transaction_read_only = on; ${RELOAD}`,
    smallDiskOptions: [],
    readWrite: `SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; ${RELOAD}`,
    faults: {
      'if a privilege is missing': ['REVOKE INSERT ON plants FROM gardener', 'GRANT INSERT ON plants TO gardener'],
      'if the table is locked': ['BEGIN; LOCK TABLE plants', 'ROLLBACK'],
      'if commits hang because the synchronous standby is down': [
        `ALTER SYSTEM SET synchronous_standby_names = 'down'; ${RELOAD}`,
        `ALTER SYSTEM RESET synchronous_standby_names; ${RELOAD}`,
      ],
    },
  },
  {
    kind: mariadb,
    setUp: `DELETE FROM mysql.db; FLUSH PRIVILEGES; CREATE USER ${USER}; ${GRANTS.join('; ')}`,
    readOnly: 'SET GLOBAL read_only = 1',
    smallDiskOptions: ['--innodb-log-file-size=8M'],
    readWrite: 'SET GLOBAL read_only = 0',
    faults: {
      'if a privilege is missing': [
        `REVOKE INSERT ON test.plants FROM ${USER}`,
        `GRANT INSERT ON test.plants TO ${USER}`,
      ],
      'if writes hang because the server is locked for a backup': ['FLUSH TABLES WITH READ LOCK', 'UNLOCK TABLES'],
    },
  },
];

describe('A service under load loses nothing and recovers on', () => {
  for (const { kind, setUp, readOnly, readWrite, faults, smallDiskOptions } of SERVERS) {
    describe(kind.name, () => {
      const disk = new Disk();
      const commands = new CommandFolder();
      const folder = commands.path;
      let server: PrivateServer;
      let proxy: FaultyProxy;
      let admin: Knex;
      let DATABASE_URL: string;

      async function run(statements: string): Promise<void> {
        for (const statement of statements.split('; ')) await admin.raw(statement);
      }
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
        DATABASE_URL = Object.assign(new URL(proxy.toProxiedUrl(server.url)), { username: 'gardener' }).href;
      });
      afterEach(async () => {
        await proxy.refuseConnections();
        await admin('plants').delete();
        await admin.destroy();
      });

      const allFaults: Record<string, Fault> = {
        'if connections are reset': { creates: 'succeed or fail', inject: () => proxy.reset() },
        'if packets are lost': { creates: 'fail', inject: () => proxy.losePackets(), heal: () => proxy.restore() },
        'if the server crashes': { creates: 'fail at once', inject: () => server.kill(), heal: () => server.start() },
        'if the server is read-only': { creates: 'fail', inject: () => run(readOnly), heal: () => run(readWrite) },
      };
      for (const [title, [cause = '', end = '']] of Object.entries(faults))
        allFaults[title] = { creates: 'fail', inject: () => run(cause), heal: () => run(end) };
      for (const [title, fault] of Object.entries(allFaults))
        it(title, () => expectRecovery(fault, folder, serverStore(server.url, admin), DATABASE_URL));

      it('while a transaction holds one id, which a client keeps creating: others get 200 in each second', async () => {
        const service = serve(folder, { DATABASE_URL, STORAGE_TIMEOUT: '2s' });
        const port = await service.port();
        const held = { id: -1n, name: 'held' };
        const transaction = await admin.transaction();
        await transaction('plants').insert({ id: -1, name: 'held' });
        const load = await Load.on(port, 3 * CLIENTS);
        const start = performance.now();
        const SECONDS = 6;
        while (performance.now() - start < 1000 * SECONDS)
          expect(await create(port, held)).to.have.property('outcome', 50301);
        await transaction.rollback();
        const seconds = load.history.map((each) => each.outcome === 200 && Math.floor((each.endedAt - start) / 1000));
        expect([...new Set(seconds)]).to.include.members(Array.from({ length: SECONDS }, (_, second) => second));
        await load.stop();
        // The last of the creates may have stored it since.
        expect((await create(port, held))?.outcome).to.be.oneOf([200, 40902]);
        expect(await service.stop()).to.equal(0);
      });

      it('and names a server that is read-only', async () => {
        await (await openStore(DATABASE_URL)).close();
        await run(readOnly);
        const named = `the server \\S+:${new URL(server.url).port} is read-only`;
        const { stdout } = await commands.run(['check'], { DATABASE_URL });
        expect(stdout).to.match(RegExp(`^storage: .*; ${named}$`, 'm'));
        const storage = await openStore(DATABASE_URL);
        expect(`${await catchError(storage.ready())}`).to.match(RegExp(`: ${named} \\(\\w+\\)$`));
        await storage.close();
        await run(readWrite);
      });

      it('after its disk was full', async function () {
        disk.mount(this, 300);
        const small = await PrivateServer.install(kind, disk.path);
        await small.start(smallDiskOptions);
        const port = await serve(folder, { DATABASE_URL: small.url }).port();
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
        await small.kill();
      });
    });
  }
});
