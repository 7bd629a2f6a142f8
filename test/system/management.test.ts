import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, create, serve } from '../support/client.js';
import { exchange, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

describe('The management listener', () => {
  const folder = temporaryFolder();

  it('has /metrics without anything that a client chose, and /readyz, which fails while the storage is unavailable and during a shutdown', async () => {
    const service = serve(folder, { MANAGEMENT_PORT: '0' });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const get = async (path: string) => {
      const { status, body = '' } = (await exchange(managementPort, request(`GET ${path}`))) ?? {};
      return `${status} ${body}`;
    };
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await exchange(port, request(`GET ${path}`)))?.outcome, 'on the public listener').to.equal(40401);
    for (let time = 0; time < 2; time++) await create(port, { id: 1n, name: 'canary-name', tag: 'canary-tag' });
    await exchange(port, request('CANARY /made-up?canary-query', { Authorization: 'Bearer canary-token' }));
    const metrics = await get('/metrics');
    for (const line of [
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40902"} 1',
      'plant_store_http_request_duration_seconds_count{route="/plants"} 2',
      'plant_store_plants_total{outcome="taken"} 1',
      'plant_store_storage_batch_plants_count 2',
    ])
      expect(metrics).to.include(`\n${line}\n`);
    expect(metrics).not.to.match(/canary|made-up/i);

    const checks = (text: string) => `"checks":{"service":${text}}}`;
    const ready = `200 {"status":"ready",${checks('"ok","storage":"ok"')}`;
    expect(await get('/readyz')).to.equal(ready);
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec('ALTER TABLE plants RENAME TO others');
    expect(await get('/readyz')).to.equal(`503 {"status":"not ready",${checks('"ok","storage":"unavailable"')}`);
    expect(await get('/healthz')).to.equal('200 {"status":"ok"}');
    await file.exec('ALTER TABLE others RENAME TO plants');
    await file.close();
    await waitUntil('the service is ready', async () => (await get('/readyz')) === ready);
    // A request in flight delays the exit.
    const { finish } = await beginCreate(port, { id: 3n, name: 'Monstera' });
    await service.kill('SIGTERM').waitForOutput(/"stopping"/);
    expect(await get('/readyz')).to.equal(`503 {"status":"not ready",${checks('"stopping","storage":"ok"')}`);
    expect((await finish().readResponse())?.outcome).to.equal(200);
    expect(await service.exited()).to.equal(0);
  });
});
