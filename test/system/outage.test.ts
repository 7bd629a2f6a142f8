import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { Line } from '../support/line.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { serve } from './client.js';
import { CLIENTS, Load } from './load.js';
import { serverStore, type TestStore } from './stores.js';

/** How long creates may wait for the storage, in milliseconds. */
const STORAGE_TIMEOUT_MS = 1000;
/** How much later an answer may come on a machine that has other work. */
const SLACK_MS = 3000;
/** How long the engine is away, in milliseconds. */
const AWAY_MS = sized(4000, 20_000);
/** How long creates may fail after it is back, in milliseconds. */
const RECOVERY_MS_MAX = 5000;

const servers: readonly DatabaseServer[] = [postgresServer, mariadbServer];

for (const server of servers) {
  describe(`While ${server.name} goes away under ${CLIENTS} clients`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    const databases = databasesOn(server);
    let line: Line;
    let store: TestStore;
    let service: Executable;
    let port: number;
    let load: Load;

    beforeEach(async () => {
      line = await Line.to(server.url, server.client === 'pg' ? 5432 : 3306);
      const url = await databases.create();
      store = serverStore(url, server.client, databases.connect(url));
      service = serveAt(folder, named(line.urlOf(url), server));
      port = await service.port();
      load = new Load();
      load.start(port);
      await load.more(200, 200);
    });
    afterEach(() => line.end());

    it('its connections are reset, again and again: what is answered is stored, and it goes on', async () => {
      for (let time = 0; time < sized(10, 100); time++) {
        line.reset();
        await load.more(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('its connections are closed by it, again and again: what is answered is stored, and it goes on', async () => {
      for (let time = 0; time < sized(10, 100); time++) {
        line.halfClose();
        await load.more(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('it is told to end connections, again and again: what is answered is stored, and it goes on', async () => {
      const admin = databases.connect(store.url);
      for (let time = 0; time < sized(10, 100); time++) {
        await endConnections(server, admin);
        await load.more(20, 200);
      }
      await expectNothingLost(service, load, port, store);
    });

    it('it refuses connections: 503 at once, until it is back', async () => {
      const awayAt = performance.now();
      await line.refuse();
      await load.more(3 * CLIENTS, 50301);
      expect(waitsSince(load, awayAt).max, 'ms').to.be.below(STORAGE_TIMEOUT_MS);
      await expectRecovery(load, () => line.mend());
      await expectNothingLost(service, load, port, store);
    });

    for (const [what, lose] of [
      ['everything is lost on the way', () => line.lose()],
      ['its answers are lost on the way', () => line.loseAnswers()],
      ['everything is held up on the way', () => line.stall()],
    ] as const) {
      it(`${what}: 503 when the time is up, then at once, until it is back`, async function () {
        this.timeout(AWAY_MS + 30_000);
        const awayAt = performance.now();
        lose();
        await Promise.all([load.more(CLIENTS, 50301), setTimeout(AWAY_MS)]);
        await expectRecovery(load, () => line.mend());
        expect(waitsSince(load, awayAt).max, 'ms').to.be.below(STORAGE_TIMEOUT_MS + SLACK_MS);
        expect(waitsSince(load, awayAt).median, 'ms').to.be.below(STORAGE_TIMEOUT_MS / 2);
        await expectNothingLost(service, load, port, store);
      });
    }

    it('everything takes longer, but not too long: every create is answered with 200', async () => {
      line.delay(30);
      await load.more(2 * CLIENTS, 200);
      await line.mend();
      await load.more(2 * CLIENTS, 200);
      expect([...load.outcomes().keys()]).to.deep.equal([200]);
      await expectNothingLost(service, load, port, store);
    });
  });
}

for (const kind of Object.values(privateServers)) {
  describe(`While a ${kind.name} server itself goes down under ${CLIENTS} clients`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    let server: PrivateServer;
    before(async function () {
      this.timeout(60_000);
      PrivateServer.needed(this, kind);
      server = await PrivateServer.install(kind, folder);
    });
    afterEach(() => server.kill());

    async function expectNothingLostWhile(goDown: (load: Load) => Promise<void>): Promise<void> {
      await server.start();
      const service = serveAt(folder, server.server.url);
      const port = await service.port();
      const load = new Load();
      load.start(port);
      await load.more(200, 200);
      await goDown(load);
      const knex = server.connect();
      const store = serverStore(server.server.url, server.server.client, knex);
      try {
        await expectNothingLost(service, load, port, store);
        expect(await store.damages()).to.deep.equal([]);
        await knex('plants').delete();
      } finally {
        await knex.destroy();
      }
    }

    it('by a crash: 503 at once, until it is back', async function () {
      this.timeout(60_000);
      await expectNothingLostWhile(async (load) => {
        const awayAt = performance.now();
        await server.kill();
        await load.more(3 * CLIENTS, 50301);
        expect(waitsSince(load, awayAt).max, 'ms').to.be.below(STORAGE_TIMEOUT_MS);
        await expectRecovery(load, () => server.start());
      });
    });

    it(`by standing still for ${AWAY_MS} ms: 503 when the time is up, until it goes on`, async function () {
      this.timeout(60_000 + AWAY_MS);
      await expectNothingLostWhile(async (load) => {
        const awayAt = performance.now();
        server.signal('SIGSTOP');
        await Promise.all([load.more(CLIENTS, 50301), setTimeout(AWAY_MS)]);
        await expectRecovery(load, () => server.signal('SIGCONT'));
        expect(waitsSince(load, awayAt).max, 'ms').to.be.below(STORAGE_TIMEOUT_MS + SLACK_MS);
      });
    });
  });
}

/** What the connections of the service are known by to PostgreSQL; MariaDB knows them by their database. */
const SERVICE = `plant-store-test-${process.pid}`;

function named(url: string, { client }: DatabaseServer): string {
  const named = new URL(url);
  if (client === 'pg') named.searchParams.set('application_name', SERVICE);
  return named.href;
}

async function endConnections({ client }: DatabaseServer, admin: Knex): Promise<void> {
  if (client === 'pg') {
    await admin.raw('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?', [SERVICE]);
    return;
  }
  const [connections] = await admin.raw(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  );
  // One that has ended meanwhile cannot be ended.
  for (const { id } of connections) await admin.raw(`KILL ${id}`).catch(() => {});
}

function serveAt(folder: string, url: string): Executable {
  const environment = { STORAGE_TIMEOUT: `${STORAGE_TIMEOUT_MS}ms`, LOG_LEVEL: 'fatal' };
  return serve(folder, { ...environment, DATABASE_URL: url });
}

/** How long creates waited for their answers that were sent since a moment, in milliseconds. */
function waitsSince(load: Load, moment: number): { readonly median: number; readonly max: number } {
  const since = load.created.filter(({ sentAt }) => sentAt >= moment);
  const waits = since.map(({ sentAt, answeredAt }) => answeredAt - sentAt).sort((a, b) => a - b);
  return { median: waits[Math.floor(waits.length / 2)] ?? 0, max: waits.at(-1) ?? 0 };
}

/** Has the storage come back, and checks that creates do so by themselves. */
async function expectRecovery(load: Load, comeBack: () => unknown): Promise<void> {
  await comeBack();
  const backAt = performance.now();
  await load.more(1, 200);
  expect(performance.now() - backAt, 'ms until the first 200').to.be.below(RECOVERY_MS_MAX);
  await load.more(200, 200);
}

/** Ends the load, and checks what it leaves: each create was answered, with 200 or 503, and told the truth. */
async function expectNothingLost(service: Executable, load: Load, port: number, store: TestStore): Promise<void> {
  await load.stop();
  expect([200, 50301]).to.include.members([...load.outcomes().keys()]);
  await load.retryUnknown(port);
  await load.expectNothingLost(store);
  expect(await service.kill('SIGTERM').exited()).to.equal(0);
}
