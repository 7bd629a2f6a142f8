import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CLI, endProgramsAfterEach, Program } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { exchange, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, linesOf, outcomeOf, serve, TOKEN } from './client.js';
import { SqliteFile } from './sqlite-file.js';

describe('What the service writes while it runs', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  describe('where standard error is no terminal', () => {
    let stdout = '';
    let lines: readonly Record<string, unknown>[] = [];
    /** By the id that the client found in its answer. */
    const outcomes = new Map<unknown, unknown>();

    before(async () => {
      const service = serve(folder, { STORAGE_TIMEOUT: '200ms', BODY_LIMIT: '1kb', LOG_LEVEL: 'trace' });
      const port = await service.port();
      const file = await SqliteFile.open(join(folder, 'plants.db'));
      // The second line looks like one of a stack, which is logged.
      const plant = { id: 1n, name: 'canary-name\n    at canary-frame', tag: 'canary-tag' };
      const post = async (headers: Readonly<Record<string, string>>, body: string) =>
        note(await exchange(port, request('POST /plants?canary-query', headers, body)));
      const note = (answer: Awaited<ReturnType<typeof create>>) => {
        outcomes.set(answer?.headers['x-request-id'], outcomeOf(answer));
      };
      const json = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'X-Other': 'canary-header' };

      note(await create(port, plant));
      note(await create(port, plant));
      note(await create(port, { ...plant, name: 'canary-other-name' }));
      await post(json, 'canary-body\n    at canary-frame');
      await post(json, '{"id":"canary-id","name":["canary-list"]}');
      await post(json, '{"id":1,"name":"canary-\\u0000"}');
      await post({ ...json, 'Content-Encoding': 'gzip' }, 'canary-gzip');
      await post({ ...json, 'Content-Type': 'canary/type' }, '{}');
      await post(json, `"${'canary-long '.repeat(1000)}"`);
      await post({}, '{"id":2,"name":"canary-name"}');
      await post({ Authorization: 'Bearer canary-wrong-token' }, '{}');
      await post({ Authorization: 'Basic canary-password' }, '{}');
      note(await exchange(port, request('GET /nowhere?canary-query')));
      note(await exchange(port, request('GET http://canary-user:canary-password@plants.example/nothing')));
      note(await exchange(port, 'canary malformed HTTP\r\n\r\n'));

      await file.exec(`CREATE TRIGGER refuse BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END`);
      note(await create(port, { ...plant, id: 3n }));
      await file.exec('DROP TRIGGER refuse; ALTER TABLE plants RENAME TO canary_table');
      note(await create(port, { ...plant, id: 4n }));
      await file.exec('ALTER TABLE canary_table RENAME TO plants; BEGIN EXCLUSIVE');
      note(await create(port, { ...plant, id: 5n }));
      await file.exec('COMMIT');
      await file.close();
      expect(await service.kill('SIGTERM').exited()).to.equal(0);

      stdout = service.stdout;
      lines = linesOf(service.stderr).map((line) => JSON.parse(line));
    });

    it('is nothing more on standard output than where it listens and has its page', () => {
      expect(linesOf(stdout)).to.have.length(2);
    });

    it('is one line a request, with the id that its answer had, the status and the error number', () => {
      const requests = lines.filter(({ level, status }) => level === 'info' && status !== undefined);
      const logged = requests.map(({ requestId, status, error }) => [requestId, error ?? status]);
      expect(logged).to.deep.equal([...outcomes]);
      expect(new Set(outcomes.values())).to.deep.equal(
        new Set([
          200, 40902, 40901, 40001, 40002, 40003, 41501, 41301, 40101, 40102, 40401, 40000, 50002, 50001, 50301,
        ]),
      );
    });

    it('tells of every request that is one its method, its path without the query, and how long it took', () => {
      // Of bytes that are no request there is nothing to tell but what was answered.
      for (const line of lines.filter(({ msg, error }) => msg === 'request' && error !== 40000)) {
        expect(line['method']).to.be.oneOf(['GET', 'POST']);
        // A target that is no path has none.
        expect(line['path']).to.be.oneOf(['/plants', '/nowhere', undefined]);
        expect(line['durationMs']).to.be.a('number');
      }
    });

    it('tells of every failure where in the code it was', () => {
      const failures = lines.filter(({ level }) => level === 'error');
      expect(failures.map(({ error }) => error)).to.deep.equal([50002, 50001, 50301]);
      for (const { err } of failures) expect(err).to.have.property('stack').that.contains('    at ');
    });

    it('has a time and a level in every line', () => {
      for (const line of lines) {
        expect(line['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(line['level']).to.be.oneOf(['info', 'warn', 'error']);
      }
    });

    it('shows no token, text of a plant, body, header, query, SQL or message of the database', () => {
      const everything = stdout + JSON.stringify(lines);
      expect(everything).not.to.match(/canary|insert into|select /i);
      expect(everything).not.to.contain(TOKEN);
    });
  });

  describe('where standard error is a terminal', () => {
    /** What a run on a terminal shows, from the start to Ctrl-C. */
    async function shownOnTerminal(environment: Readonly<Record<string, string>>): Promise<string> {
      const command: [string, ...string[]] = ['script', '-qec', 'exec "$NODE" "$CLI"', '/dev/null'];
      const settings = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN, TERM: 'xterm', ...environment };
      const terminal = new Program(folder, command, { NODE: process.execPath, CLI, ...settings });
      expect(outcomeOf(await create(await terminal.port(), { id: 1n, name: 'Monstera' }))).to.equal(200);
      expect(await terminal.type('\x03').exited()).to.equal(0);
      return terminal.stdout;
    }
    before(function () {
      needsProgram(this, 'script', '--version');
    });

    it('is readable lines, not JSON', async () => {
      const shown = await shownOnTerminal({});
      expect(shown)
        .to.match(/\d\d:\d\d:\d\d\.\d{3}.*INFO.*request/)
        .and.to.contain('SIGINT');
      expect(shown).not.to.contain('{"');
    });

    it('has colours', async () => {
      expect(await shownOnTerminal({})).to.contain('\x1b[');
    });

    const colourless = [{ NO_COLOR: '1' }, { NO_COLOR: '1', FORCE_COLOR: '1' }, { FORCE_COLOR: '0' }, { TERM: 'dumb' }];
    for (const environment of colourless) {
      it(`has no escape codes with ${new URLSearchParams(environment)}`, async () => {
        expect(await shownOnTerminal(environment)).not.to.contain('\x1b');
      });
    }
  });

  it('fails no request where it cannot be written, and ends no service', async () => {
    const command: [string, ...string[]] = ['bash', '-c', 'exec "$NODE" "$CLI" 2>/dev/full'];
    const settings = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN };
    const service = new Program(folder, command, { NODE: process.execPath, CLI, ...settings });
    const port = await service.port();
    expect(outcomeOf(await exchange(port, 'no request\r\n\r\n'))).to.equal(40000);
    expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    expect(outcomeOf(await exchange(port, request('GET /nothing')))).to.equal(40401);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });
});
