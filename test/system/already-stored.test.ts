import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { create, serve, toOutcome } from '../support/client.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { slowSyncs } from '../support/slow-syncs.js';
import { temporaryFolder } from '../support/temporary.js';
import { isBefore, isSyncOf, systemCalls } from './system-calls.js';

/** Delay of each sync. */
const SYNC_MS = 3000;
/** How much earlier a response may arrive than the one that it must follow, because both may share one sync. */
const SLACK_MS = 2000;
/** Longer than the syncs of a create. */
const STORAGE_TIMEOUT = '60s';

describe('An already-stored response', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let server: PrivateServer | undefined;
  afterEach(async () => {
    await server?.kill();
    server = undefined;
  });

  /** Creates one plant through two services concurrently while syncs are slow; the 40902 must not precede the 200. */
  async function expectBothToWait(services: readonly [Executable, Executable], pids: readonly number[]): Promise<void> {
    const ports = await Promise.all(services.map((service) => service.port()));
    // Opens the database connections of both.
    for (const [id, port] of ports.entries())
      expect(toOutcome(await create(port, { id: BigInt(id), name: 'first' }))).to.equal(200);
    await slowSyncs(folder, pids, SYNC_MS);

    const plant = { id: 7n, name: randomBytes(8).toString('hex') };
    const responses = await Promise.all(
      ports.map(async (port) => ({ outcome: toOutcome(await create(port, plant)), at: performance.now() })),
    );
    const at = (outcome: number) => responses.find((response) => response.outcome === outcome)?.at ?? Number.NaN;
    expect(at(40902) - at(200), 'ms from the 200 to the 40902').to.be.above(-SLACK_MS);
  }

  for (const kind of Object.values(privateServers)) {
    it(`waits until ${kind.name} has synced the plant, even if another service created it`, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
      server = await PrivateServer.install(kind, folder);
      await server.start();
      const environment = { DATABASE_URL: server.server.url, STORAGE_TIMEOUT };
      await expectBothToWait([serve(folder, environment), serve(folder, environment)], server.pids);
    });
  }

  it('waits until another service has synced the plant to a SQLite file', async function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
    const environment = { DATABASE_URL: 'sqlite:shared.db', STORAGE_TIMEOUT };
    const services = [serve(folder, environment), serve(folder, environment)] as const;
    await Promise.all(services.map((service) => service.port()));
    await expectBothToWait(
      services,
      services.flatMap(({ process: { pid } }) => pid ?? []),
    );
  });

  it('follows a sync of the SQLite log at startup, because a killed service may have left it unsynced', async function () {
    skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
    const environment = { DATABASE_URL: 'sqlite:killed.db' };
    const plant = { id: 1n, name: 'Monstera' };
    const killed = serve(folder, environment);
    expect(toOutcome(await create(await killed.port(), plant))).to.equal(200);
    await killed.killGroup('SIGKILL').exited();

    const trace = join(folder, 'trace');
    const calls = 'fsync,fdatasync,write,writev';
    const strace = ['strace', '-f', '-y', '-e', 'signal=none', '-e', `trace=${calls}`, '-o', trace];
    const service = serve(folder, environment, strace);
    expect(toOutcome(await create(await service.port(), plant))).to.equal(40902);
    await service.killGroup('SIGTERM').exited();

    const completed = systemCalls(readFileSync(trace, 'utf8'));
    const response = completed.find(({ args }) => args.includes('"HTTP/1.1 409 Conflict'));
    if (response === undefined) throw new Error('the trace has no response');
    const log = join(realpathSync(folder), 'killed.db-wal');
    expect(completed.some((call) => isSyncOf(call, log) && isBefore(call, response))).to.equal(true);
  });
});
