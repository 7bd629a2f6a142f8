import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { byId, create, serve, type TestPlant, toOutcome } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { exchange, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { readSqlitePlants } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

/** `STORAGE_TIMEOUT` of the service. */
const STORAGE_TIMEOUT_MS = 1000;
/** A `STORAGE_TIMEOUT` several times as long as a shutdown takes on a busy machine. */
const LONG_TIMEOUT_MS = 10_000;
/** How long writes hang: several times as long as a hanging create, probe or connection is kept. */
const HANGING_MS = 10_000;
/** Time after which a create has certainly reached the server, unless it failed immediately. */
const PAUSE_MS = 50;
/** Maximum number of hanging statements in a server: the first writes and one probe. */
const MAX_HANGING_STATEMENTS = 3;
/** Matches a statement that inserts plants. */
const INSERT_OF_PLANTS = /^insert into [`"]?plants\b/i;

/** A way to block every write to a server but no read. */
interface WriteBlock {
  readonly kind: (typeof privateServers)[keyof typeof privateServers];
  readonly cause: string;
  readonly block: readonly string[];
  readonly release: readonly string[];
  /** Query for the statements in progress, each with a unique `id` and its `text`. */
  readonly statementsQuery: string;
}

const writeBlocks: readonly WriteBlock[] = [
  {
    kind: privateServers.postgres,
    cause: 'its synchronous standby is down',
    block: ["ALTER SYSTEM SET synchronous_standby_names = 'down'", 'SELECT pg_reload_conf()'],
    release: ['ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()'],
    statementsQuery:
      "SELECT concat(pid, query_start) AS id, query AS text FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  },
  {
    kind: privateServers.mariadb,
    cause: 'it is locked for a backup',
    block: ['FLUSH TABLES WITH READ LOCK'],
    release: ['UNLOCK TABLES'],
    statementsQuery:
      "SELECT query_id AS id, info AS text FROM information_schema.processlist WHERE command = 'Query' AND id <> CONNECTION_ID()",
  },
];

/** Returns the status and body of `/readyz`. */
async function readiness(managementPort: number): Promise<unknown> {
  const response = await exchange(managementPort, request('GET /readyz'));
  const body: unknown = response?.json();
  return [response?.status, body];
}
const READY = [200, { status: 'ready', checks: { service: 'ok', storage: 'ok' } }];
const NOT_READY = [503, { status: 'not ready', checks: { service: 'ok', storage: 'unavailable' } }];

function waitForReadiness(managementPort: number): Promise<void> {
  return waitUntil('the service is ready', async () => isDeepStrictEqual(await readiness(managementPort), READY));
}

for (const { kind, cause, block, release, statementsQuery } of writeBlocks) {
  describe(`While ${kind.name} serves reads but blocks writes because ${cause}`, () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    let server: PrivateServer;
    let admin: Knex;
    before(async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      server = await PrivateServer.install(kind, folder);
    });
    beforeEach(async () => {
      await server.start();
      admin = server.connect();
      await run(release);
    });
    afterEach(async () => {
      await admin.destroy();
      await server.kill();
    });

    async function run(statements: readonly string[]): Promise<void> {
      for (const statement of statements) await admin.raw(statement);
    }

    async function hangingStatements(): Promise<{ readonly id: unknown; readonly text: string }[]> {
      const result = await admin.raw(statementsQuery);
      return result.rows ?? result[0];
    }

    /** Returns the ids of the statements that hang while they insert plants. */
    async function hangingCreates(): Promise<unknown[]> {
      const statements = await hangingStatements();
      return statements.filter(({ text }) => INSERT_OF_PLANTS.test(text)).map(({ id }) => id);
    }

    async function start(timeoutMs: number): Promise<{ service: Executable; port: number; managementPort: number }> {
      const environment = { STORAGE_TIMEOUT: `${timeoutMs}ms`, MANAGEMENT_PORT: '0', LOG_LEVEL: 'fatal' };
      const service = serve(folder, { DATABASE_URL: server.server.url, ...environment });
      const port = await service.port();
      const managementPort = await service.managementPort();
      await waitForReadiness(managementPort);
      return { service, port, managementPort };
    }

    /** Blocks writes and waits until creates fail, because PostgreSQL reloads its settings with a delay. */
    async function blockWrites(createFails: () => Promise<boolean>): Promise<void> {
      await run(block);
      await waitUntil('creates fail', createFails);
    }

    it('after the first timeout, creates fail immediately, few statements hang, and the service recovers', async () => {
      const { service, port, managementPort } = await start(STORAGE_TIMEOUT_MS);
      let lastId = 0n;
      const createNext = async () => toOutcome(await create(port, { id: ++lastId, name: 'Monstera' }));
      expect(await createNext()).to.equal(200);

      await blockWrites(async () => {
        const outcomes = await Promise.all(Array.from({ length: 20 }, createNext));
        return outcomes.every((outcome) => outcome === 50301);
      });
      // PostgreSQL does not cancel a commit.
      const first = await hangingCreates();
      const deadline = performance.now() + HANGING_MS;
      while (performance.now() < deadline) {
        const hanging = setTimeout(PAUSE_MS).then(hangingCreates);
        const [outcome, ids] = await Promise.all([createNext(), hanging]);
        expect(outcome).to.equal(50301);
        expect(first, 'the creates that hang').to.include.members(ids);
        expect(await readiness(managementPort)).to.deep.equal(NOT_READY);
      }
      expect((await hangingStatements()).length).to.be.at.most(MAX_HANGING_STATEMENTS);

      await run(release);
      await waitUntil('creates succeed again', async () => (await createNext()) === 200);
      await waitForReadiness(managementPort);
      expect(await service.kill('SIGTERM').exited()).to.equal(0);
    });

    it('a hanging probe stores no plant and does not delay shutdown', async () => {
      const { service, port, managementPort } = await start(LONG_TIMEOUT_MS);
      const store = serverStore(server.server.url, server.server.client, admin);
      const plants = await store.readPlants();
      const sent: TestPlant[] = [];
      await blockWrites(async () => {
        const plant = { id: BigInt(-1 - sent.length), name: 'Monstera' };
        sent.push(plant);
        return toOutcome(await create(port, plant)) === 50301;
      });
      await waitUntil(
        'a probe hangs',
        async () => (await hangingStatements()).length > (await hangingCreates()).length,
      );
      expect(await readiness(managementPort)).to.deep.equal(NOT_READY);
      const stoppedAt = performance.now();
      expect(await service.kill('SIGTERM').exited()).to.equal(0);
      expect(performance.now() - stoppedAt, 'ms').to.be.below(LONG_TIMEOUT_MS / 2);
      await run(release);
      // The last create may have been stored.
      const stored = byId([...plants, ...sent.slice(0, -1)]);
      expect([stored, byId([...plants, ...sent])]).to.deep.include(byId(await store.readPlants()));
    });
  });
}

describe('While the file system is not writable', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const disk = join(folder, 'disk');
  const image = join(folder, 'image');
  mkdirSync(disk);
  // Database servers run as another user.
  chmodSync(folder, 0o755);
  afterEach(() => spawnSync('umount', ['--lazy', disk]));

  function mount(...args: readonly string[]): boolean {
    return spawnSync('mount', [...args, disk]).status === 0;
  }

  function fill(): void {
    const { bavail, bsize } = statfsSync(disk);
    const filler = openSync(join(disk, 'filler'), 'w');
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
    closeSync(filler);
  }

  /** Fills the disk until creates fail, and expects `/readyz` to fail until there is space again. */
  async function expectNotReadyWhileFull(service: Executable): Promise<void> {
    const port = await service.port();
    const managementPort = await service.managementPort();
    const name = randomBytes(1000).toString('hex');
    expect(toOutcome(await create(port, { id: 1n, name }))).to.equal(200);
    await waitForReadiness(managementPort);
    fill();
    for (let id = 2n; toOutcome(await create(port, { id, name })) !== 50301; ) id++;
    for (let time = 0; time < 5; time++) expect(await readiness(managementPort)).to.deep.equal(NOT_READY);
    rmSync(join(disk, 'filler'));
    await waitForReadiness(managementPort);
  }

  it('/readyz fails on a full disk until there is space', async function () {
    skipUnless(this, mount('-t', 'tmpfs', '-o', 'size=16m', 'plant-store-test'), 'permission to mount a tmpfs');
    await expectNotReadyWhileFull(serve(disk, { MANAGEMENT_PORT: '0' }));
  });

  for (const [kind, ...settings] of [
    [privateServers.postgres],
    [privateServers.mariadb, '--innodb-log-file-size=8M'],
  ] as const) {
    it(`/readyz fails if ${kind.name} has a full disk, until there is space`, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      skipUnless(this, mount('-t', 'tmpfs', '-o', 'size=300m', 'plant-store-test'), 'permission to mount a tmpfs');
      const server = await PrivateServer.install(kind, disk);
      try {
        await server.start(settings);
        await expectNotReadyWhileFull(serve(folder, { DATABASE_URL: server.server.url, MANAGEMENT_PORT: '0' }));
      } finally {
        await server.kill();
      }
    });
  }

  it('/readyz fails when an error remounts the file system read-only, and no probe stores a plant', async function () {
    spawnSync('truncate', ['--size=40M', image]);
    const isFormatted = spawnSync('mkfs.ext4', ['-q', image]).status === 0;
    skipUnless(this, isFormatted && mount('-o', 'loop', image), 'mkfs.ext4 and permission to mount an image');
    const service = serve(disk, { MANAGEMENT_PORT: '0' });
    const port = await service.port();
    const managementPort = await service.managementPort();
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    await waitForReadiness(managementPort);
    expect(mount('-o', 'remount,abort')).to.equal(true);
    expect(toOutcome(await create(port, { id: 2n, name: 'Ficus' }))).to.equal(50301);
    for (let time = 0; time < 3; time++) expect(await readiness(managementPort)).to.deep.equal(NOT_READY);
    expect(await readSqlitePlants(join(disk, 'plants.db'))).to.deep.equal([{ id: 1n, name: 'Monstera' }]);
  });
});
