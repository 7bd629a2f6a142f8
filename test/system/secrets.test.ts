import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, exchange, request, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { temporaryFolder } from '../support/temporary.js';

const REJECT = "CREATE TRIGGER r BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END";
const RENAME = 'DROP TRIGGER r; ALTER TABLE plants RENAME TO canary_table';

describe('The log, the metrics and the responses of a process', () => {
  const folder = temporaryFolder();

  it('contain no token, plant or SQL when the storage fails, even at level trace', async () => {
    const service = serve(folder, { ACCESS_TOKENS: 'canary-token', LOG_LEVEL: 'trace', MANAGEMENT_PORT: '0' });
    const port = await service.port();
    const headers = { Authorization: 'Bearer canary-token' };
    const store = sqliteStore(`${folder}/plants.db`);
    // The second line looks like a stack frame, because stack traces are logged.
    const texts = { name: 'canary-name\n    at canary-frame', tag: 'canary-tag' };
    expect((await create(port, { id: 1n, ...texts }, headers))?.outcome).to.equal(200);
    for (const [sql, outcome] of [
      [REJECT, 50002],
      [RENAME, 50301],
    ] as const) {
      await store.run(sql);
      const response = await create(port, { id: 2n, ...texts }, headers);
      expect(response?.outcome).to.equal(outcome);
      expect(JSON.stringify(response)).not.to.include('canary');
    }
    await exchange(port, request('CANARY /?canary-query', headers));
    const metrics = (await exchange(await service.managementPort(), request('GET /metrics')))?.body;
    expect(await service.stop()).to.equal(0);
    expect(service.stdout + service.stderr + metrics).not.to.match(/canary|insert into|select /i);
    // A log without failures would contain no secrets either.
    expect(service.stderr.match(/"error":5\d+,"err":\{"type":"\w+"/g)).to.have.lengthOf(2);
  });
});
