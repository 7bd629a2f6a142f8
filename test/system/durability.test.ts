import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, serve, TOKEN, toLines, toOutcome } from '../support/client.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { PrivateServer, privateServers } from '../support/private-server.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { isBefore, isOnPath, isSyncOf, type SystemCall, systemCalls } from './system-calls.js';

describe('An acknowledged plant', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  describe('is durable in SQLite before the response is sent:', () => {
    const name = 'Strelitzia reginae';
    let calls: SystemCall[] = [];
    before(async function () {
      skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
      const trace = join(folder, 'trace');
      const names = 'fsync,fdatasync,write,writev,pwrite64,sendto,sendmsg';
      const strace = ['strace', '-f', '-y', '-s', '8192', '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace];
      const environment = { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'sqlite:new/traced.db' };
      const service = new Executable(folder, [], environment, strace);
      expect(toOutcome(await create(await service.port(), { id: 1n, name }))).to.equal(200);
      await service.killGroup('SIGTERM').exited();
      calls = systemCalls(readFileSync(trace, 'utf8'));
    });

    /** Returns the first matching call. */
    function find(what: string, matches: (call: SystemCall) => boolean): SystemCall {
      const call = calls.find(matches);
      if (call === undefined) throw new Error(`no ${what} in the trace`);
      return call;
    }
    const acknowledgement = () => find('response', ({ args }) => args.includes('"HTTP/1.1 200 OK'));

    it('the entry in the write-ahead log is synced', () => {
      const log = join(realpathSync(folder), 'new/traced.db-wal');
      const write = find('write of the plant', (call) => isOnPath(call, log) && call.args.includes(name));
      const synced = find('sync after the write', (call) => isSyncOf(call, log) && isBefore(write, call));
      expect(isBefore(synced, acknowledgement())).to.equal(true);
    });

    for (const parent of ['.', 'new']) {
      it(`the folder ${parent}, which has a new entry, is synced`, () => {
        const synced = find('sync of the folder', (call) => isSyncOf(call, join(realpathSync(folder), parent)));
        expect(isBefore(synced, acknowledgement())).to.equal(true);
      });
    }
  });

  const binaryLogFolder = temporaryFolder();
  it('may be lost by a MariaDB server that does not sync its binary log; the service warns at startup', async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.mariadb);
    const server = await PrivateServer.install(privateServers.mariadb, binaryLogFolder);
    const collectWarnings = async (...settings: string[]) => {
      await server.start(settings);
      const service = serve(folder, { DATABASE_URL: server.server.url });
      await service.port();
      await service.kill('SIGTERM').exited();
      await server.stop();
      return toLines(service.stderr).filter((line) => /before they are durable/.test(line));
    };
    expect(await collectWarnings('--log-bin', '--sync-binlog=1')).to.deep.equal([]);
    expect((await collectWarnings('--log-bin', '--sync-binlog=0')).join()).to.include('sync_binlog=0');
  });

  for (const { kind, log } of [
    { kind: privateServers.postgres, log: /\/pg_wal\/[\dA-F]{24}>/ },
    { kind: privateServers.mariadb, log: /\/ib_logfile0>/ },
  ]) {
    it(`is durable in ${kind.name} before the server confirms it, with default settings`, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      skipUnlessInstalled(this, 'strace', '-o', '/dev/null', 'true');
      const server = await PrivateServer.install(kind, folder);
      const trace = join(folder, `trace-${kind.name}`);
      const names = 'fsync,fdatasync,pwrite64,write,recvfrom,read,sendto,sendmsg';
      await server.start(
        [],
        ['strace', '-f', '-y', '-s', '8192', '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace],
      );
      const service = serve(folder, { DATABASE_URL: server.server.url });
      const port = await service.port();
      const plants = Array.from({ length: 10 }, (_, id) => ({ id: BigInt(id), name: randomBytes(16).toString('hex') }));
      for (const plant of plants) expect(toOutcome(await create(port, plant))).to.equal(200);
      expect(service.stderr, 'warnings').not.to.match(/before they are durable/);
      await service.kill('SIGTERM').exited();
      await server.stop();

      const calls = systemCalls(readFileSync(trace, 'utf8')).filter(({ result }) => result >= 0);
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
      for (const { logged, confirmed } of found) {
        const synced = syncs.some((sync) => isBefore(logged, sync) && isBefore(sync, confirmed));
        expect(synced, 'synced between the write to the log and the response').to.equal(true);
      }
    });
  }
});

/** Returns whether `call` sends on the connection on which `received` arrived. */
function isResponseTo(call: SystemCall, received: SystemCall): boolean {
  const connection = /^\d+<[^>]*>/.exec(received.args)?.[0] ?? '';
  return /^(sendto|sendmsg|write)$/.test(call.name) && call.args.startsWith(connection);
}
