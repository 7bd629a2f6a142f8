import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve } from '../support/client.js';
import { exchange, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

/** SQL of another program, and the outcome of a create afterwards. The ids differ, so that each create writes. */
const STEPS = [
  ['', 200],
  ["CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END", 50002],
  ['DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table', 50301],
] as const;

describe('The log, the metrics and the responses of a process', () => {
  const folder = temporaryFolder();

  it('contain no token, plant or SQL when the storage fails, even at level trace', async () => {
    const service = serve(folder, { ACCESS_TOKENS: 'canary-token', LOG_LEVEL: 'trace', MANAGEMENT_PORT: '0' });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    for (const [id, [sql, outcome]] of STEPS.entries()) {
      await file.exec(sql);
      // The second line looks like a stack frame, because stack traces are logged.
      const plant = { id: BigInt(id), name: 'canary-name\n    at canary-frame', tag: 'canary-tag' };
      const response = await create(port, plant, { Authorization: 'Bearer canary-token' });
      expect(response?.outcome).to.equal(outcome);
      if (outcome !== 200) expect(JSON.stringify(response)).not.to.include('canary');
    }
    await file.close();
    await exchange(port, request('CANARY /?canary-query', { Authorization: 'Bearer canary-token' }));
    const metrics = (await exchange(managementPort, request('GET /metrics')))?.body;
    expect(await service.stop()).to.equal(0);
    expect(service.stdout + service.stderr + metrics).not.to.match(/canary|insert into|select /i);
    // A log without failures would contain no secrets either.
    expect(service.stderr.match(/"error":5\d+,"err":\{"type":"\w+"/g)).to.have.lengthOf(2);
  });
});
