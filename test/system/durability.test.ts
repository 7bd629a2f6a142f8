import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, serve } from '../support/client.js';
import { temporaryFolder } from '../support/temporary.js';
import { PrivateServer, privateServers } from './private-server.js';
import { isBefore, isSyncOf, type SystemCall, skipUnlessTraceable, strace, systemCalls } from './system-calls.js';

const CALLS = 'fsync,fdatasync,pwrite64,write,writev,recvfrom,read,sendto,sendmsg';

describe('Before a response', () => {
  const folder = realpathSync(temporaryFolder());
  before(function () {
    skipUnlessTraceable(this);
  });

  const readTrace = (trace: string) => systemCalls(readFileSync(trace, 'utf8')).filter(({ result }) => result >= 0);

  it("SQLite's log is synced, even for a plant that a killed service left in it, and so is the folder with its new files", async () => {
    const file = `${randomBytes(4).toString('hex')}.db`;
    const plant = { id: 1n, name: 'Strelitzia reginae' };
    const log = join(folder, `${file}-wal`);
    for (const [outcome, status] of [
      [200, '200 OK'],
      [40902, '409 Conflict'],
    ] as const) {
      const trace = join(folder, `trace-${outcome}`);
      const service = serve(folder, { DATABASE_URL: `sqlite:${file}` }, strace(trace, CALLS));
      expect((await create(await service.port(), plant))?.outcome).to.equal(outcome);
      // Kills only the service, whose process id starts the trace, so that strace completes the trace.
      process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGKILL');
      await service.exited();
      const calls = readTrace(trace);
      const response = calls.find(({ args }) => args.includes(`"HTTP/1.1 ${status}`));
      const syncs = calls.filter((call) => response && isBefore(call, response));
      // Only the first service writes the plant.
      const write = calls.find(({ args }) => args.includes(`${log}>`) && args.includes(plant.name));
      expect(write !== undefined, 'written').to.equal(outcome === 200);
      const isLogSynced = syncs.some((call) => isSyncOf(call, log) && (!write || isBefore(write, call)));
      const isFolderSynced = outcome !== 200 || syncs.some((call) => isSyncOf(call, folder));
      expect({ isLogSynced, isFolderSynced }).to.deep.equal({ isLogSynced: true, isFolderSynced: true });
    }
  });

  for (const { kind, log, unsafe } of [
    { kind: privateServers.postgres, log: /\/pg_wal\/[\dA-F]{24}>/, unsafe: ['-c', 'fsync=off'] },
    { kind: privateServers.mariadb, log: /\/ib_logfile0>/, unsafe: ['--log-bin', '--sync_binlog=0'] },
  ] as const) {
    it(`${kind.name} syncs its log, and the service warns about settings without syncs`, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      const server = await PrivateServer.install(kind, folder);
      const trace = join(folder, `trace-${kind.name}`);
      // Shows writes of several pages of the log in full.
      await server.start([], strace(trace, CALLS, '-s', '65536'));
      const service = serve(folder, { DATABASE_URL: server.server.url });
      const port = await service.port();
      const plants = Array.from({ length: 10 }, (_, id) => ({ id: BigInt(id), name: randomBytes(16).toString('hex') }));
      for (const plant of plants) expect((await create(port, plant))?.outcome).to.equal(200);
      expect(service.stderr).not.to.match(/before they are durable/);
      await service.stop();
      await server.stop();
      await server.start(unsafe);
      const warned = serve(folder, { DATABASE_URL: server.server.url });
      await warned.waitForOutput(RegExp(`before they are durable.*${unsafe[1].replace('--', '')}`));
      await server.kill();

      const calls = readTrace(trace);
      const syncs = calls.filter((call) => /^f(data)?sync$/.test(call.name) && log.test(call.args));
      // A name may be split across two pages of the log; such a plant is skipped.
      const found = plants.flatMap(({ name }) => {
        const related = calls.filter(({ args }) => args.includes(name));
        const received = related.find((call) => /^(recvfrom|read)$/.test(call.name));
        const logged = related.find((call) => /^p?write/.test(call.name) && log.test(call.args));
        const confirmed = calls.find((call) => received && isBefore(received, call) && isResponseTo(call, received));
        return logged && confirmed ? [{ logged, confirmed }] : [];
      });
      expect(found.length).to.be.above(plants.length / 2);
      for (const { logged, confirmed } of found)
        expect(syncs.some((sync) => isBefore(logged, sync) && isBefore(sync, confirmed))).to.equal(true);
    });
  }
});

/** Returns whether `call` sends on the connection on which `received` arrived. */
function isResponseTo(call: SystemCall, received: SystemCall): boolean {
  const connection = /^\d+<[^>]*>/.exec(received.args)?.[0] ?? '';
  return /^(sendto|sendmsg|write)$/.test(call.name) && call.args.startsWith(connection);
}
