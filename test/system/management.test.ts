import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { beginCreate, create, createRequest, serve } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

describe('The management listener', () => {
  const folder = temporaryFolder();
  let service: Program;
  let port: number;
  let managementPort: number;
  before(async () => {
    service = serve(folder, { MANAGEMENT_PORT: '0' });
    [port, managementPort] = [await service.port(), await service.managementPort()];
  });

  const get = async (path: string) => {
    const response = await exchange(managementPort, request(`GET ${path}`));
    return { status: response?.status, body: response?.body ?? '' };
  };

  it('has /metrics, which count requests, plants and creates in flight, and contain nothing that a client chose', async () => {
    for (let time = 0; time < 2; time++) await create(port, { id: 1n, name: 'canary-name', tag: 'canary-tag' });
    await exchange(port, 'no request\r\n\r\n');
    await exchange(port, request('CANARY /made-up?canary-query', { Authorization: 'Bearer canary-token' }));
    await exchange(port, request('GET /made-up', { 'X-Request-Id': 'made-up-id' }));
    const client = (await RawClient.connect(port)).send(createRequest({ id: 2n, name: 'Monstera' }).subarray(0, -5));
    let metrics = '';
    while (!metrics.includes('\nplant_store_creates_in_flight 1\n')) metrics = (await get('/metrics')).body;
    client.close();
    for (const line of [
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40902"} 1',
      'plant_store_http_requests_total{method="GET",route="none",status="404",error="40401"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="400",error="40000"} 2',
      'plant_store_http_request_duration_seconds_count{route="/plants"} 2',
      'plant_store_plants_total{outcome="added"} 1',
      'plant_store_plants_total{outcome="taken"} 1',
      'plant_store_storage_batch_plants_count 2',
      'plant_store_storage_operation_duration_seconds_count 2',
    ])
      expect(metrics).to.include(`\n${line}\n`);
    expect(metrics).to.match(/\nplant_store_creates_in_flight_bytes [1-9]\d*\n/);
    expect(metrics).not.to.match(/canary|made-up/i);
  });

  it('serves no other path, and the public listener serves none of these', async () => {
    expect((await get('/plants')).status).to.equal(404);
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await exchange(port, request(`GET ${path}`)))?.outcome).to.equal(40401);
  });

  it('has /healthz, and /readyz, which fails while the storage is unavailable and while the service shuts down', async () => {
    const checks = (text: string) => `"checks":{"service":${text}}}`;
    expect((await get('/readyz')).body).to.equal(`{"status":"ready",${checks('"ok","storage":"ok"')}`);
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec('ALTER TABLE plants RENAME TO others');
    const body = `{"status":"not ready",${checks('"ok","storage":"unavailable"')}`;
    expect(await get('/readyz')).to.deep.equal({ status: 503, body });
    expect(await get('/healthz')).to.deep.equal({ status: 200, body: '{"status":"ok"}' });
    await file.exec('ALTER TABLE others RENAME TO plants');
    await file.close();
    await waitUntil('the service is ready', async () => (await get('/readyz')).status === 200);
    // A request in flight delays the exit.
    const { finish } = await beginCreate(port, { id: 3n, name: 'Monstera' });
    await service.kill('SIGTERM').waitForOutput(/"stopping"/);
    const stopping = `{"status":"not ready",${checks('"stopping","storage":"ok"')}`;
    expect(await get('/readyz')).to.deep.equal({ status: 503, body: stopping });
    expect((await finish().readResponse())?.outcome).to.equal(200);
    expect(await service.exited()).to.equal(0);
  });
});
