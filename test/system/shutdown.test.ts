import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, byId, CREATE_HEADERS, createRequest, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 200;
/** Number of creates that each client pipelines. */
const PIPELINED = 10;

const head = (headers: Readonly<Record<string, string>>) =>
  request('POST /plants', { ...CREATE_HEADERS, ...headers }).toString();
const started = '{"id":1,"name":"Mon';
/** Parts of a create that a stalled client has sent. */
const STALLED = {
  'before its body': head({ 'Content-Length': '100' }),
  'in its body': `${head({ 'Content-Length': '100' })}${started}`,
  'in a chunk': `${head({ 'Transfer-Encoding': 'chunked' })}64\r\n${started}`,
  'in a compressed body': `${head({ 'Content-Length': '100', 'Content-Encoding': 'gzip' })}\x1f`,
  'after another request': `${request('GET /plants')}${head({ 'Content-Length': '100' })}`,
};

describe('A graceful shutdown', () => {
  const folder = temporaryFolder();

  /** Sends part of a create over a new connection, and waits until the service has read it. */
  async function stall(service: Program, bytes: string): Promise<RawClient> {
    const client = (await RawClient.connect(await service.port())).send(bytes);
    // The service has read the bytes once a later request has a response.
    await exchange(await service.port(), request('GET /plants'));
    return client;
  }

  it('drops no request of clients that pipeline requests', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:pipelined.db', LOG_LEVEL: 'fatal' });
    const port = await service.port();
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(port)));
    await Promise.all(clients.map((client) => client.send(request('GET /plants')).readResponse()));
    // Requests and signal reach the service simultaneously.
    service.kill('SIGSTOP');
    const plants = Array.from({ length: CLIENTS * PIPELINED }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }));
    for (const [index, plant] of plants.entries()) clients[index % CLIENTS]?.send(createRequest(plant));
    service.kill('SIGTERM').kill('SIGCONT');
    const outcomes: unknown[] = [];
    const reading = clients.map(async (client, first) => {
      for (let index = first; index < plants.length; index += CLIENTS)
        outcomes[index] = (await client.readResponse())?.outcome;
    });
    await Promise.all(reading);
    expect([200, 50303]).to.include.members([...new Set(outcomes)]);
    expect(await service.exited()).to.equal(0);
    const created = plants.filter((_, index) => outcomes[index] === 200);
    expect(await sqliteStore(join(folder, 'pipelined.db')).readPlants()).to.deep.equal(byId(created));
  });

  it('rejects each stalled request with 50303 after half of SHUTDOWN_TIMEOUT, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '8s' });
    const clients: Record<string, RawClient> = {};
    for (const [where, bytes] of Object.entries(STALLED)) clients[where] = await stall(service, bytes);
    const startedAt = performance.now();
    service.kill('SIGTERM');
    for (const [where, client] of Object.entries(clients)) {
      const response = (await client.readAllResponses()).at(-1);
      expect(response?.outcome, where).to.equal(50303);
      expect(response?.headers, where).to.include({ connection: 'close' }).and.to.have.property('retry-after');
    }
    expect(performance.now() - startedAt).to.be.at.least(4000);
    expect(await service.exited()).to.equal(0);
  });

  it('waits for a create that is being stored while a client is stalled, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:slow.db', SHUTDOWN_TIMEOUT: '8s' });
    const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
    const file = await SqliteFile.open(join(folder, 'slow.db'));
    await file.exec('BEGIN EXCLUSIVE');
    const created = finish().readResponse();
    const client = await stall(service, STALLED['in its body']);
    service.kill('SIGTERM');
    expect((await client.readResponse())?.outcome).to.equal(50303);
    await file.exec('COMMIT');
    expect((await created)?.outcome).to.equal(200);
    expect(await service.exited()).to.equal(0);
    await file.close();
  });

  for (const [what, bytes] of [
    ['has its response and disconnects', STALLED['in its body']],
    ['does not read its responses', Buffer.concat(Array(20).fill(request('GET /docs/swagger-ui-bundle.js')))],
  ] as const) {
    it(`ends with exit code 0 before SHUTDOWN_TIMEOUT if a client ${what}`, async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '10s' });
      const port = await service.port();
      const client = await RawClient.connect(port, { isRecorded: false });
      if (typeof bytes !== 'string') client.socket.pause();
      client.send(bytes);
      await exchange(port, request('GET /openapi.json'));
      const startedAt = performance.now();
      service.kill('SIGTERM');
      if (typeof bytes === 'string') {
        expect((await client.readResponse())?.outcome).to.equal(50303);
        client.close();
      }
      expect(await service.exited()).to.equal(0);
      expect(performance.now() - startedAt).to.be.within(5000, 9900);
      client.close();
    });
  }
});
