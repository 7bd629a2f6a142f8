import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, creating, outcomeOf, serve, type TestPlant, TOKEN } from './client.js';
import { plantsIn } from './sqlite-file.js';
import { isBefore, type SystemCall, systemCalls } from './system-calls.js';

describe('A plant that was answered with 200', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  for (const round of [1, 2, 3]) {
    it(`is there, exactly, after kill -9 in the middle of creates (round ${round})`, async () => {
      const environment = { DATABASE_URL: `sqlite:killed-${round}.db` };
      const service = serve(folder, environment);
      const port = await service.port();
      const sent = new Map<bigint, TestPlant>();
      const answered: TestPlant[] = [];
      const clients = Array.from({ length: 50 }, async () => {
        const client = await RawClient.connect(port);
        for (;;) {
          const plant = somePlant(sent.size);
          sent.set(plant.id, plant);
          const answer = await client.send(creating(plant)).answer();
          if (answer === undefined) return;
          expect(outcomeOf(answer)).to.equal(200);
          if (answered.push(plant) === 100 * round) service.kill('SIGKILL');
        }
      });
      await Promise.all(clients);
      expect(await service.exited()).to.equal('SIGKILL');

      const portAgain = await serve(folder, environment).port();
      const outcomes = await Promise.all(answered.map(async (plant) => outcomeOf(await create(portAgain, plant))));
      expect(new Set(outcomes), 'sent again').to.deep.equal(new Set([40902]));
      for (const plant of await plantsIn(join(folder, `killed-${round}.db`))) {
        expect(plant).to.deep.equal(sent.get(plant.id));
      }
    });
  }

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

/** The plant number `index` of a run: ids from both ends of int64 and around zero, texts that are easily damaged. */
function somePlant(index: number): TestPlant {
  const step = BigInt(index);
  const ids = [-(2n ** 63n) + step, 2n ** 63n - 1n - step, 2n ** 53n + step, -step];
  const id = ids[index % ids.length] ?? step;
  const plant = { id, name: `Ōhiʻa ${index} "lehua" \u{1F33A}\t e\u0301 ${'x'.repeat(index % 300)} ` };
  return index % 2 === 0 ? plant : { ...plant, tag: '' };
}
