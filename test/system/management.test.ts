import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { create, createRequest, serve, TOKEN, toOutcome } from '../support/client.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { portOf } from '../support/port.js';
import { exchange, RawClient, type RawResponse, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

describe('The management listener', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let files = 0;
  let file: string;
  let service: Executable;
  let port: number;
  let managementPort: number;

  async function get(path: string): Promise<RawResponse> {
    const response = await exchange(managementPort, request(`GET ${path}`, { Connection: 'close' }));
    if (response === undefined) throw new Error(`no response to GET ${path}`);
    return response;
  }

  beforeEach(async () => {
    file = join(folder, `${++files}.db`);
    service = serve(folder, { DATABASE_URL: `sqlite:${file}`, MANAGEMENT_PORT: '0' });
    port = await service.port();
    managementPort = await service.managementPort();
  });

  describe('/healthz', () => {
    it('is 200 while the process runs, even if the storage is unavailable', async () => {
      renameSync(file, `${file}.away`);
      const response = await get('/healthz');
      expect({ status: response.status, body: response.json() }).to.deep.equal({ status: 200, body: { status: 'ok' } });
    });
  });

  describe('/readyz', () => {
    const readiness = async () => {
      const response = await get('/readyz');
      return { status: response.status, body: response.json() };
    };
    const ready = { status: 200, body: { status: 'ready', checks: { service: 'ok', storage: 'ok' } } };

    it('is 200 when plants can be created', async () => {
      expect(await readiness()).to.deep.equal(ready);
    });

    it('is 503 and names the storage while it is unavailable, and 200 again afterwards', async () => {
      renameSync(file, `${file}.away`);
      expect(await readiness()).to.deep.equal({
        status: 503,
        body: { status: 'not ready', checks: { service: 'ok', storage: 'unavailable' } },
      });
      renameSync(`${file}.away`, file);
      await waitUntil('the service is ready', async () => isDeepStrictEqual(await readiness(), ready));
    });

    it('is 503 and names the service while it shuts down', async () => {
      // A request in flight delays the exit.
      const client = await RawClient.connect(port);
      const bytes = createRequest({ id: 1n, name: 'Monstera' });
      client.send(bytes.subarray(0, -1));
      await get('/healthz');
      service.kill('SIGTERM');
      await service.waitForOutput(/"stopping"/);
      expect(await readiness()).to.deep.equal({
        status: 503,
        body: { status: 'not ready', checks: { service: 'stopping', storage: 'ok' } },
      });
      client.send(bytes.subarray(-1));
      expect(toOutcome(await client.readResponse())).to.equal(200);
      expect(await service.exited()).to.equal(0);
    });
  });

  describe('/metrics', () => {
    const text = async () => (await get('/metrics')).body;

    it('counts requests by route, status and error number', async () => {
      for (let time = 0; time < 2; time++) await create(port, { id: 1n, name: 'Monstera' });
      await exchange(port, request('GET /nothing'));
      await exchange(port, 'no request\r\n\r\n');
      const metrics = await text();
      for (const line of [
        'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
        'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40902"} 1',
        'plant_store_http_requests_total{method="GET",route="none",status="404",error="40401"} 1',
        'plant_store_http_requests_total{method="other",route="none",status="400",error="40000"} 1',
        'plant_store_http_request_duration_seconds_count{route="/plants"} 2',
        'plant_store_plants_total{outcome="added"} 1',
        'plant_store_plants_total{outcome="taken"} 1',
        'plant_store_storage_batch_plants_count 2',
        'plant_store_storage_operation_duration_seconds_count{operation="add"} 2',
        'plant_store_pending_creates 0',
        'plant_store_pending_creates_limit 10000',
        'plant_store_pending_bytes_limit 67108864',
      ])
        expect(metrics).to.include(`\n${line}\n`);
    });

    it('counts creates in flight and their bytes', async () => {
      const client = await RawClient.connect(port);
      client.send(createRequest({ id: 1n, name: 'Monstera' }).subarray(0, -5));
      let metrics = '';
      while (!metrics.includes('\nplant_store_pending_creates 1\n')) metrics = await text();
      expect(metrics).to.match(/\nplant_store_pending_bytes [1-9]\d*\n/);
      client.socket.destroy();
    });

    it('counts storage failures by code', async () => {
      const other = await SqliteFile.open(file);
      await other.exec('DROP TABLE plants');
      await other.close();
      expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(50001);
      expect(await text()).to.include('\nplant_store_storage_errors_total{operation="add",code="DEFECT"} 1\n');
    });

    it('contains no plant, no token and no text that a client chose', async () => {
      await create(port, { id: 1n, name: 'canary-name', tag: 'canary-tag' });
      await exchange(port, request('CANARY /made-up?canary-query', { Authorization: 'Bearer canary-token' }));
      await exchange(port, request('PURGE /made-up', { 'X-Request-Id': 'made-up-id' }));
      expect(await text())
        .not.to.match(/canary|CANARY|PURGE|made-up/)
        .and.not.to.include(TOKEN);
    });
  });

  it('sends one response per connection, so that a client cannot occupy memory by never reading', async () => {
    const client = await RawClient.connect(managementPort);
    client.send(Buffer.concat(Array(100).fill(request('GET /healthz'))));
    expect((await client.readAllResponses()).map(({ status }) => status)).to.deep.equal([200]);
    expect((await get('/healthz')).status).to.equal(200);
  });

  it('returns 404 for any other path', async () => {
    expect((await get('/plants')).status).to.equal(404);
  });

  it('is not reachable through the public listener', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect(toOutcome(await exchange(port, request(`GET ${path}`)))).to.equal(40401);
  });

  it('prevents the start with a one-line error if its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const usedPort = `${portOf(other)}`;
    const run = serve(folder, { DATABASE_URL: 'memory:', MANAGEMENT_PORT: usedPort });
    expect(await run.exited()).to.equal(1);
    expect(run.stderr).to.equal(
      `plant-store: cannot listen on MANAGEMENT_HOST=127.0.0.1 MANAGEMENT_PORT=${usedPort}: the port is in use; stop the other program or choose another port\n`,
    );
    other.close();
  });
});
