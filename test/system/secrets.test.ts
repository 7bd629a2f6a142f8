import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve, toLines } from '../support/client.js';
import { exchange, request } from '../support/raw-http.js';
import { CANARY } from '../support/secret-leaks.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

const TOKEN = 'canary-token-1234567890';
const GOOD = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
// The second line looks like a stack frame, because stack traces are logged.
const PLANT = '{"id":1,"name":"canary-name\\n    at canary-frame","tag":"canary-tag","canary-field":"canary-value"}';
const post = (headers: Readonly<Record<string, string>>, body: string | Uint8Array = PLANT) =>
  request('POST /plants?canary-query', { 'X-Canary': 'canary-header', ...headers }, body);
const encoded = (coding: string) => ({ ...GOOD, 'Content-Encoding': coding });

/** Requests that contain secrets, and their outcomes. A string is SQL that another program executes. */
const EXCHANGES: readonly (string | readonly [bytes: Buffer | string, outcome: number])[] = [
  [post(GOOD), 200],
  [post(GOOD), 40902],
  [post({ ...GOOD, 'X-Request-Id': `${TOKEN}{` }), 40902],
  [post(GOOD, PLANT.replace('canary-name', 'canary-other')), 40901],
  [post(GOOD, '{"canary'), 40001],
  [post(GOOD, '"canary"'), 40002],
  [post(GOOD, '{"id":"canary","name":["canary"],"tag":{"canary":1}}'), 40002],
  [post(GOOD, '{"id":2,"name":"canary\\u0000","tag":"canary\\ud800"}'), 40003],
  [post(GOOD, `"${'canary'.repeat(1000)}"`), 41301],
  [post(encoded('gzip'), 'canary'), 40001],
  [post(encoded('gzip'), gzipSync('canary')), 40001],
  [post(encoded('br'), brotliCompressSync('"canary"')), 40002],
  [post(encoded('canary')), 41501],
  [post({ ...GOOD, 'Content-Type': 'canary/canary' }), 41501],
  [post({ ...GOOD, Expect: 'canary' }), 41701],
  [post({ Authorization: 'Bearer canary-wrong-token' }), 40102],
  [post({ Authorization: 'Basic canary:canary' }), 40101],
  [post({ Authorization: `Bearer ${TOKEN} ${TOKEN}` }), 40101],
  [post({ Cookie: 'canary=canary' }), 40101],
  [request('PUT /plants?canary', GOOD, PLANT), 40501],
  [request('GET http://canary:canary@canary.example/nowhere?canary'), 40401],
  ['canary canary canary\r\n\r\n', 40000],
  [`POST /plants HTTP/1.1\r\nHost: canary\r\nHost: canary\r\nX-Canary: ${TOKEN}\r\n\r\n`, 40000],
  [`POST /plants HTTP/1.1\r\nHost: test\r\nX-Canary: ${'canary'.repeat(4000)}\r\n\r\n`, 43101],
  `CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END`,
  [post(GOOD, PLANT.replace('1', '3')), 50002],
  'DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table',
  [post(GOOD, PLANT.replace('1', '4')), 50301],
  'ALTER TABLE canary_table RENAME TO plants; BEGIN EXCLUSIVE',
  [post(GOOD, PLANT.replace('1', '5')), 50301],
];

describe('The log and the responses', () => {
  const folder = temporaryFolder();

  it('contain no token, name, tag, body, header, query or SQL, for any request and any failure', async () => {
    const settings = {
      LOG_LEVEL: 'trace',
      STORAGE_TIMEOUT: '5s',
      BODY_LIMIT: '1kb',
      DATABASE_URL: 'sqlite:secrets.db',
    };
    const service = serve(folder, { ACCESS_TOKENS: TOKEN, ...settings });
    const port = await service.port();
    const file = await SqliteFile.open(join(folder, 'secrets.db'));
    const failedIds: unknown[] = [];
    for (const step of EXCHANGES) {
      if (typeof step === 'string') {
        await file.exec(step);
        continue;
      }
      const response = await exchange(port, step[0]);
      expect(response?.outcome).to.equal(step[1]);
      if (Number(response?.status) >= 500) failedIds.push(response?.headers['x-request-id']);
      if (response?.status !== 200) expect(JSON.stringify(response)).not.to.match(CANARY);
    }
    await file.close();
    expect(await service.stop()).to.equal(0);
    expect(service.stdout + service.stderr).not.to.match(CANARY);
    expect(service.stderr).not.to.match(/insert into|select /i);

    const lines: Record<string, unknown>[] = toLines(service.stderr).map((line) => JSON.parse(line));
    for (const { time, level } of lines) {
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(level).to.be.oneOf(['info', 'warn', 'error']);
    }
    // A log without errors would contain no secrets either.
    const failures = lines.filter(({ level }) => level === 'error');
    expect(failures.map(({ error }) => error)).to.deep.equal([50002, 50301, 50301]);
    expect(failures.map(({ requestId }) => requestId)).to.deep.equal(failedIds);
    for (const { err } of failures) expect(err).to.have.property('stack').that.contains('    at ');
  });
});
