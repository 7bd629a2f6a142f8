import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { exchange, type RawAnswer, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, creating, outcomeOf, serve, TOKEN } from './client.js';
import { SqliteFile } from './sqlite-file.js';

describe('The management listener', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let files = 0;
  let file: string;
  let service: Executable;
  let port: number;
  let managementPort: number;

  async function get(path: string): Promise<RawAnswer> {
    const answer = await exchange(managementPort, request(`GET ${path}`, { Connection: 'close' }));
    if (answer === undefined) throw new Error(`no answer to GET ${path}`);
    return answer;
  }

  beforeEach(async () => {
    file = join(folder, `${++files}.db`);
    service = serve(folder, { DATABASE_URL: `sqlite:${file}`, MANAGEMENT_PORT: '0' });
    port = await service.port();
    managementPort = Number((await service.says(/metrics: http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  });

  describe('/healthz', () => {
    it('says that the process is there, also while its storage is not', async () => {
      renameSync(file, `${file}.away`);
      const answer = await get('/healthz');
      expect({ status: answer.status, body: answer.json() }).to.deep.equal({ status: 200, body: { status: 'ok' } });
    });
  });

  describe('/readyz', () => {
    const answerOf = async () => {
      const answer = await get('/readyz');
      return { status: answer.status, body: answer.json() };
    };
    const ready = { status: 200, body: { status: 'ready', checks: { service: 'ok', storage: 'ok' } } };

    it('is 200 when plants can be created', async () => {
      expect(await answerOf()).to.deep.equal(ready);
    });

    it('is 503 and names the storage while that does not answer, and 200 again when it does', async () => {
      renameSync(file, `${file}.away`);
      expect(await answerOf()).to.deep.equal({
        status: 503,
        body: { status: 'not ready', checks: { service: 'ok', storage: 'does not answer' } },
      });
      renameSync(`${file}.away`, file);
      expect(await answerOf()).to.deep.equal(ready);
    });

    it('is 503 and names the service while that stops', async () => {
      // A request under way keeps the service from ending.
      const client = await RawClient.connect(port);
      const bytes = creating({ id: 1n, name: 'Monstera' });
      client.send(bytes.subarray(0, -1));
      await get('/healthz');
      service.kill('SIGTERM');
      await service.says(/"stopping"/);
      expect(await answerOf()).to.deep.equal({
        status: 503,
        body: { status: 'not ready', checks: { service: 'is stopping', storage: 'ok' } },
      });
      client.send(bytes.subarray(-1));
      expect(outcomeOf(await client.answer())).to.equal(200);
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

    it('counts what is under way', async () => {
      const client = await RawClient.connect(port);
      client.send(creating({ id: 1n, name: 'Monstera' }).subarray(0, -5));
      let metrics = '';
      while (!metrics.includes('\nplant_store_pending_creates 1\n')) metrics = await text();
      expect(metrics).to.match(/\nplant_store_pending_bytes [1-9]\d*\n/);
      client.socket.destroy();
    });

    it('counts the failures of the storage by their code', async () => {
      const other = await SqliteFile.open(file);
      await other.exec('DROP TABLE plants');
      await other.close();
      expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(50001);
      expect(await text()).to.include('\nplant_store_storage_errors_total{operation="add",code="DEFECT"} 1\n');
    });

    it('tells nothing of a plant, a token or what a client made up', async () => {
      await create(port, { id: 1n, name: 'canary-name', tag: 'canary-tag' });
      await exchange(port, request('CANARY /canary-path?canary-query', { Authorization: 'Bearer canary-token' }));
      await exchange(port, request('PURGE /canary-path', { 'X-Request-Id': 'made-up-id' }));
      expect(await text())
        .not.to.match(/canary|CANARY|PURGE|made-up/)
        .and.not.to.include(TOKEN);
    });

    it('keeps the conventions of Prometheus', async function () {
      needs(this, spawnSync('promtool', ['--version']).status === 0, 'promtool: apt-get install prometheus');
      await create(port, { id: 1n, name: 'Monstera' });
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await text() });
      expect({ status, said: `${stdout}${stderr}` }).to.deep.equal({ status: 0, said: '' });
    });
  });

  it('answers each connection once, so that who never reads holds nothing but its place', async () => {
    const greedy = await RawClient.connect(managementPort);
    greedy.send(Buffer.concat(Array(100).fill(request('GET /healthz'))));
    expect((await greedy.answersToEnd()).map(({ status }) => status)).to.deep.equal([200]);
    expect((await get('/healthz')).status).to.equal(200);
  });

  it('answers 404 to anything else', async () => {
    expect((await get('/plants')).status).to.equal(404);
  });

  it('is not reached through the public listener', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect(outcomeOf(await exchange(port, request(`GET ${path}`)))).to.equal(40401);
  });

  it('stops the start in one line where its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const taken = typeof address === 'object' ? `${address?.port}` : '';
    const run = serve(folder, { DATABASE_URL: 'memory:', MANAGEMENT_PORT: taken });
    expect(await run.exited()).to.equal(1);
    expect(run.stderr).to.equal(
      `plant-store: cannot listen on MANAGEMENT_HOST=127.0.0.1 MANAGEMENT_PORT=${taken}: another program listens there; stop it, or choose another port\n`,
    );
    other.close();
  });
});
