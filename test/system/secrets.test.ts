import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toOutcome } from '../support/client.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
import { CANARY } from '../support/secret-leaks.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

const TOKEN = 'canary-token-1234567890';

describe('Secrets of clients and operators', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  it('appear in no response and no log line, for any request and any failure', async () => {
    const environment = {
      PORT: '0',
      ACCESS_TOKENS: TOKEN,
      DATABASE_URL: 'sqlite:secrets.db',
      LOG_LEVEL: 'trace',
      STORAGE_TIMEOUT: '1s',
      BODY_LIMIT: '1kb',
    };
    const service = new Executable(folder, [], environment);
    const port = await service.port();
    const good = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const plant = '{"id":1,"name":"canary-name","tag":"canary-tag","canary-field":"canary-value"}';
    const other = plant.replace('canary-name', 'canary-other');
    const requests: readonly [bytes: Buffer | string, outcome: number][] = [
      [request('POST /plants?canary-query', good, plant), 200],
      [request('POST /plants', good, plant), 40902],
      [request('POST /plants', good, other), 40901],
      [request('POST /plants', good, '{"canary'), 40001],
      [request('POST /plants', good, '"canary"'), 40002],
      [request('POST /plants', good, '{"id":"canary","name":["canary"],"tag":{"canary":1}}'), 40002],
      [request('POST /plants', good, '{"id":2,"name":"canary\\u0000","tag":"canary\\ud800"}'), 40003],
      [request('POST /plants', good, `"${'canary'.repeat(1000)}"`), 41301],
      [request('POST /plants', { ...good, 'Content-Encoding': 'gzip' }, 'canary'), 40001],
      [request('POST /plants', { ...good, 'Content-Encoding': 'gzip' }, gzipSync('canary')), 40001],
      [request('POST /plants', { ...good, 'Content-Encoding': 'br' }, brotliCompressSync('"canary"')), 40002],
      [request('POST /plants', { ...good, 'Content-Encoding': 'canary' }, plant), 41501],
      [request('POST /plants', { ...good, 'Content-Type': 'canary/canary' }, plant), 41501],
      [request('POST /plants', { ...good, Expect: 'canary' }, plant), 41701],
      [request('POST /plants', { Authorization: 'Bearer canary-wrong-token' }, plant), 40102],
      [request('POST /plants', { Authorization: 'Basic canary:canary' }, plant), 40101],
      [request('POST /plants', { Authorization: `Bearer ${TOKEN} ${TOKEN}` }, plant), 40101],
      [request('POST /plants', { Cookie: 'canary=canary', 'X-Canary': 'canary' }, plant), 40101],
      [request('POST /plants', { ...good, 'X-Request-Id': `${TOKEN}{` }, plant), 40902],
      [request('PUT /plants?canary', good, plant), 40501],
      [request('GET http://canary:canary@canary.example/nowhere?canary'), 40401],
      ['canary canary canary\r\n\r\n', 40000],
      [`POST /plants HTTP/1.1\r\nHost: canary\r\nHost: canary\r\nX-Canary: ${TOKEN}\r\n\r\n`, 40000],
      [`POST /plants HTTP/1.1\r\nHost: test\r\nX-Canary: ${'canary'.repeat(4000)}\r\n\r\n`, 43101],
    ];
    const outcomes: unknown[] = [];
    for (const [bytes] of requests) outcomes.push(toOutcome(await exchange(port, bytes)));
    expect(outcomes).to.deep.equal(requests.map(([, outcome]) => outcome));

    const file = await SqliteFile.open(join(folder, 'secrets.db'));
    const next = (id: number) => request('POST /plants', good, plant.replace('"id":1', `"id":${id}`));
    await file.exec(`CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END`);
    expect(toOutcome(await exchange(port, next(3))), 'rejected').to.equal(50002);
    await file.exec('DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table');
    expect(toOutcome(await exchange(port, next(4))), 'broken').to.equal(50001);
    await file.exec('ALTER TABLE canary_table RENAME TO plants; BEGIN EXCLUSIVE');
    expect(toOutcome(await exchange(port, next(5))), 'unavailable').to.equal(50301);
    await file.exec('COMMIT');
    await file.close();
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    expect(service.stdout + service.stderr).to.not.match(CANARY);
  });

  for (const scheme of ['postgres', 'mysql']) {
    it(`such as the password of an unavailable ${scheme} server do not appear in the startup error`, async () => {
      const DATABASE_URL = `${scheme}://gardener:canary-password@127.0.0.1:1/garden`;
      const service = new Executable(folder, [], { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL, LOG_LEVEL: 'trace' });
      expect(await service.exited()).to.equal(1);
      expect(service.stderr).to.match(/^plant-store: /);
      expect(service.stdout + service.stderr)
        .to.not.include('canary-password')
        .and.not.include(TOKEN);
    });
  }
});
