import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, serve, TOKEN, toLines, toOutcome } from '../support/client.js';
import { CLI, endProgramsAfterEach, Program } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The log', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  describe('on a standard error that is not a terminal', () => {
    let stdout = '';
    let lines: readonly Record<string, unknown>[] = [];
    /** By the request id of the response. */
    const outcomes = new Map<unknown, unknown>();

    before(async () => {
      const service = serve(folder, { STORAGE_TIMEOUT: '1s', BODY_LIMIT: '1kb', LOG_LEVEL: 'trace' });
      const port = await service.port();
      const file = await SqliteFile.open(join(folder, 'plants.db'));
      // The second line looks like a stack frame, because stack traces are logged.
      const plant = { id: 1n, name: 'canary-name\n    at canary-frame', tag: 'canary-tag' };
      const post = async (headers: Readonly<Record<string, string>>, body: string) =>
        record(await exchange(port, request('POST /plants?canary-query', headers, body)));
      const record = (response: Awaited<ReturnType<typeof create>>) => {
        outcomes.set(response?.headers['x-request-id'], toOutcome(response));
      };
      const json = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'X-Other': 'canary-header' };

      record(await create(port, plant));
      record(await create(port, plant));
      record(await create(port, { ...plant, name: 'canary-other-name' }));
      await post(json, 'canary-body\n    at canary-frame');
      await post(json, '{"id":"canary-id","name":["canary-list"]}');
      await post(json, '{"id":1,"name":"canary-\\u0000"}');
      await post({ ...json, 'Content-Encoding': 'gzip' }, 'canary-gzip');
      await post({ ...json, 'Content-Type': 'canary/type' }, '{}');
      await post(json, `"${'canary-long '.repeat(1000)}"`);
      await post({}, '{"id":2,"name":"canary-name"}');
      await post({ Authorization: 'Bearer canary-wrong-token' }, '{}');
      await post({ Authorization: 'Basic canary-password' }, '{}');
      record(await exchange(port, request('GET /nowhere?canary-query')));
      record(await exchange(port, request('GET http://canary-user:canary-password@plants.example/nothing')));
      record(await exchange(port, 'canary malformed HTTP\r\n\r\n'));

      await file.exec(`CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END`);
      record(await create(port, { ...plant, id: 3n }));
      await file.exec('DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table');
      record(await create(port, { ...plant, id: 4n }));
      await file.exec('ALTER TABLE canary_table RENAME TO plants; BEGIN EXCLUSIVE');
      record(await create(port, { ...plant, id: 5n }));
      await file.exec('COMMIT');
      await file.close();
      expect(await service.kill('SIGTERM').exited()).to.equal(0);

      stdout = service.stdout;
      lines = toLines(service.stderr).map((line) => JSON.parse(line));
    });

    it('leaves standard output with two lines: the URLs of the service and of its documentation', () => {
      expect(stdout).to.match(/^Plant Store listens on http:\S+\nAPI documentation: http:\S+\/docs\n$/);
    });

    it('has one line per request, with the request id of the response and the error number or status', () => {
      const requests = lines.filter(({ level, status }) => level === 'info' && status !== undefined);
      const logged = requests.map(({ requestId, status, error }) => [requestId, error ?? status]);
      expect(logged).to.deep.equal([...outcomes]);
      expect(new Set(outcomes.values())).to.deep.equal(
        new Set([
          200, 40902, 40901, 40001, 40002, 40003, 41501, 41301, 40101, 40102, 40401, 40000, 50002, 50001, 50301,
        ]),
      );
    });

    it('has the method, the path without the query, and the duration of every well-formed request', () => {
      // Malformed HTTP has no method or path.
      for (const line of lines.filter(({ msg, error }) => msg === 'request' && error !== 40000)) {
        expect(line['method']).to.be.oneOf(['GET', 'POST']);
        // A target with user information is logged without a path.
        expect(line['path']).to.be.oneOf(['/plants', '/nowhere', undefined]);
        expect(line['durationMs']).to.be.a('number');
      }
    });

    it('has the stack of every failure', () => {
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

    it('contains no token, plant text, body, header, query, SQL or database message', () => {
      const everything = stdout + JSON.stringify(lines);
      expect(everything).not.to.match(/canary|insert into|select /i);
      expect(everything).not.to.contain(TOKEN);
    });
  });

  it('affects no request when standard error is not writable', async () => {
    const command: [string, ...string[]] = ['sh', '-c', 'exec "$NODE" "$CLI" 2>/dev/full'];
    const settings = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN };
    const service = new Program(folder, command, { NODE: process.execPath, CLI, ...settings });
    const port = await service.port();
    expect(toOutcome(await exchange(port, 'no request\r\n\r\n'))).to.equal(40000);
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    expect(toOutcome(await exchange(port, request('GET /nothing')))).to.equal(40401);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  });
});
