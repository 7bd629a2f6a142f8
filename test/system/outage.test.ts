import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { serverStore, type TestStore } from '../support/engines.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { testOrSoak } from '../support/soak.js';
import { quantile } from '../support/statistics.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { CLIENTS, Load } from './load.js';

/** `STORAGE_TIMEOUT` in tests that wait for it. */
const SHORT_TIMEOUT_MS = 2000;
/** `STORAGE_TIMEOUT` in tests in which no create may wait for it. */
const LONG_TIMEOUT_MS = 60_000;
/** Duration of an outage. */
const OUTAGE_MS = testOrSoak(4000, 20_000);

const servers: readonly DatabaseServer[] = [postgresServer, mariadbServer];

for (const server of servers) {
  describe(`During an outage of ${server.name} under load from ${CLIENTS} clients, the service`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    const databases = databasesOn(server);
    let proxy: FaultyProxy;
    let url: string;
    let store: TestStore;
    let service: Executable;
    let port: number;
    let load: Load;

    beforeEach(async () => {
      proxy = await FaultyProxy.to(server.url, server.client === 'pg' ? 5432 : 3306);
      url = await databases.create();
      store = serverStore(url, server.client, databases.connect(url));
    });
    afterEach(() => proxy.close());

    async function startLoad(timeoutMs: number): Promise<void> {
      service = serveAt(folder, withApplicationName(proxy.toProxiedUrl(url), server), timeoutMs);
      port = await service.port();
      load = new Load();
      load.start(port);
      await load.waitForOutcomes(200, 200);
    }

    it('loses no acknowledged plant when connections are reset repeatedly, and recovers', async () => {
      await startLoad(SHORT_TIMEOUT_MS);
      for (let time = 0; time < testOrSoak(10, 100); time++) {
        proxy.reset();
        await load.waitForOutcomes(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('loses no acknowledged plant when the server closes connections repeatedly, and recovers', async () => {
      await startLoad(SHORT_TIMEOUT_MS);
      for (let time = 0; time < testOrSoak(10, 100); time++) {
        proxy.halfClose();
        await load.waitForOutcomes(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('loses no acknowledged plant when an administrator terminates connections repeatedly, and recovers', async () => {
      await startLoad(SHORT_TIMEOUT_MS);
      const admin = databases.connect(store.url);
      for (let time = 0; time < testOrSoak(10, 100); time++) {
        await terminateConnections(server, admin);
        await load.waitForOutcomes(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('returns 503 immediately while connections are refused, and recovers', async () => {
      await startLoad(LONG_TIMEOUT_MS);
      const outageAt = performance.now();
      await proxy.refuseConnections();
      await load.waitForOutcomes(3 * CLIENTS, 50301);
      expect(latencySince(load, outageAt, 1), 'ms').to.be.below(LONG_TIMEOUT_MS / 2);
      await expectRecovery(load, () => proxy.restore());
      await expectNothingLost(service, load, port, store);
    });

    for (const [what, injectFault] of [
      ['all packets are dropped', () => proxy.dropPackets()],
      ['responses of the server are dropped', () => proxy.dropResponses()],
      ['all packets are delayed', () => proxy.stall()],
    ] as const) {
      it(`returns 503 after the timeout, then immediately, while ${what}, and recovers`, async () => {
        await startLoad(SHORT_TIMEOUT_MS);
        const outageAt = performance.now();
        injectFault();
        await Promise.all([load.waitForOutcomes(CLIENTS, 50301), setTimeout(OUTAGE_MS)]);
        await expectRecovery(load, () => proxy.restore());
        expect(latencySince(load, outageAt, 0.5), 'ms, the median').to.be.below(SHORT_TIMEOUT_MS / 2);
        await expectNothingLost(service, load, port, store);
      });
    }

    it('responds to every create with 200 or 409 while latency is high but below the timeout', async () => {
      await startLoad(LONG_TIMEOUT_MS);
      proxy.delay(30);
      await load.waitForOutcomes(2 * CLIENTS, 200);
      await proxy.restore();
      await load.waitForOutcomes(2 * CLIENTS, 200);
      expect(load.outcomes()).to.have.members(conclusive);
      await expectNothingLost(service, load, port, store);
    });
  });
}

for (const kind of Object.values(privateServers)) {
  describe(`When a ${kind.name} server fails under load from ${CLIENTS} clients, the service`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    let server: PrivateServer;
    before(async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      server = await PrivateServer.install(kind, folder);
    });
    afterEach(() => server.kill());

    async function expectNothingLostWhile(
      timeoutMs: number,
      failAndRecover: (load: Load) => Promise<void>,
    ): Promise<void> {
      await server.start();
      const service = serveAt(folder, server.server.url, timeoutMs);
      const port = await service.port();
      const load = new Load();
      load.start(port);
      await load.waitForOutcomes(200, 200);
      await failAndRecover(load);
      const knex = server.connect();
      const store = serverStore(server.server.url, server.server.client, knex);
      try {
        await expectNothingLost(service, load, port, store);
        expect(await store.checkIntegrity()).to.deep.equal([]);
        await knex('plants').delete();
      } finally {
        await knex.destroy();
      }
    }

    it('returns 503 immediately after a crash, and recovers', async () => {
      await expectNothingLostWhile(LONG_TIMEOUT_MS, async (load) => {
        const outageAt = performance.now();
        await server.kill();
        await load.waitForOutcomes(3 * CLIENTS, 50301);
        expect(latencySince(load, outageAt, 1), 'ms').to.be.below(LONG_TIMEOUT_MS / 2);
        await expectRecovery(load, () => server.start());
      });
    });

    it(`returns 503 after the timeout while the server is paused for ${OUTAGE_MS} ms, and recovers`, async () => {
      await expectNothingLostWhile(SHORT_TIMEOUT_MS, async (load) => {
        server.signal('SIGSTOP');
        await Promise.all([load.waitForOutcomes(CLIENTS, 50301), setTimeout(OUTAGE_MS)]);
        await expectRecovery(load, () => server.signal('SIGCONT'));
      });
    });
  });
}

/** Identifies the connections of the service in PostgreSQL; MariaDB identifies them by their database. */
const APPLICATION_NAME = `plant-store-test-${process.pid}`;

function withApplicationName(url: string, { client }: DatabaseServer): string {
  const changed = new URL(url);
  if (client === 'pg') changed.searchParams.set('application_name', APPLICATION_NAME);
  return changed.href;
}

async function terminateConnections({ client }: DatabaseServer, admin: Knex): Promise<void> {
  if (client === 'pg') {
    await admin.raw('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?', [
      APPLICATION_NAME,
    ]);
    return;
  }
  const [connections] = await admin.raw(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  );
  // A connection may have ended already.
  for (const { id } of connections) await admin.raw(`KILL ${id}`).catch(() => {});
}

function serveAt(folder: string, url: string, timeoutMs: number): Executable {
  const environment = { STORAGE_TIMEOUT: `${timeoutMs}ms`, LOG_LEVEL: 'fatal' };
  return serve(folder, { ...environment, DATABASE_URL: url });
}

/** Returns a quantile of the latencies, in milliseconds, of the creates sent since `startedAt`. */
function latencySince(load: Load, startedAt: number, fraction: number): number {
  const operations = load.history.filter(({ sentAt }) => sentAt >= startedAt);
  return quantile(
    operations.map(({ sentAt, endedAt }) => endedAt - sentAt),
    fraction,
  );
}

/** Ends the outage with `restore` and expects creates to succeed again. */
async function expectRecovery(load: Load, restore: () => unknown): Promise<void> {
  await restore();
  await load.waitForOutcomes(200, 200);
}

/** Stops the load and expects a consistent history in which each create got 200, 409 or 503. */
async function expectNothingLost(service: Executable, load: Load, port: number, store: TestStore): Promise<void> {
  await load.stop();
  await load.retryUnknown(port);
  expect([...conclusive, 50301]).to.include.members(load.outcomes());
  load.expectNoViolations(await store.readPlants());
  expect(await service.kill('SIGTERM').exited()).to.equal(0);
}
