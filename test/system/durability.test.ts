import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, outcomeOf, TOKEN } from './client.js';
import { isBefore, type SystemCall, systemCalls } from './system-calls.js';

describe('A plant that was answered with 200', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  describe('was safe from a power cut before the answer was sent:', () => {
    const name = 'Strelitzia reginae';
    let calls: SystemCall[] = [];
    before(async function () {
      needsProgram(this, 'strace', '-o', '/dev/null', 'true');
      const trace = join(folder, 'trace');
      const names = 'fsync,fdatasync,write,writev,pwrite64,sendto,sendmsg';
      const strace = ['strace', '-f', '-y', '-s', '8192', '-e', 'signal=none', '-e', `trace=${names}`, '-o', trace];
      const environment = { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'sqlite:new/traced.db' };
      const service = new Executable(folder, [], environment, strace);
      expect(outcomeOf(await create(await service.port(), { id: 1n, name }))).to.equal(200);
      await service.killGroup('SIGTERM').exited();
      calls = systemCalls(readFileSync(trace, 'utf8'));
    });

    /** The first call that `matches`. */
    function find(what: string, matches: (call: SystemCall) => boolean): SystemCall {
      const call = calls.find(matches);
      if (call === undefined) throw new Error(`there is no ${what} in the trace`);
      return call;
    }
    const isAbout = ({ args }: SystemCall, path: string) => args.replace(/^\d+</, '').startsWith(`${path}>`);
    const isSyncOf = (call: SystemCall, path: string) =>
      /^f(data)?sync$/.test(call.name) && call.result === 0 && isAbout(call, path);
    const answer = () => find('answer', ({ args }) => args.includes('"HTTP/1.1 200 OK'));

    it('its entry in the write-ahead log was synced', () => {
      const log = join(realpathSync(folder), 'new/traced.db-wal');
      const write = find('write of the plant', (call) => isAbout(call, log) && call.args.includes(name));
      const synced = find('sync after the write', (call) => isSyncOf(call, log) && isBefore(write, call));
      expect(isBefore(synced, answer())).to.equal(true);
    });

    for (const parent of ['.', 'new']) {
      it(`the folder ${parent}, in which a new entry was made, was synced`, () => {
        const synced = find('sync of the folder', (call) => isSyncOf(call, join(realpathSync(folder), parent)));
        expect(isBefore(synced, answer())).to.equal(true);
      });
    }
  });
});
