import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, CREATE_HEADERS, createRequest, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 200;
/** Number of creates that each client pipelines. */
const PIPELINED = 10;

const head = (headers: object) => `${request('POST /plants', { ...CREATE_HEADERS, ...headers })}`;
/** Parts of a create that a stalled client has sent. */
const STALLED = {
  'in its body': `${head({ 'Content-Length': '100' })}{"id":1,"name":"Mon`,
  'in a chunk': `${head({ 'Transfer-Encoding': 'chunked' })}64\r\n{"id":1,"name":"Mon`,
  'in a compressed body': `${head({ 'Content-Length': '100', 'Content-Encoding': 'gzip' })}\x1f`,
  'after another request': `${request('GET /plants')}${head({ 'Content-Length': '100' })}`,
};

describe('A graceful shutdown', () => {
  const folder = temporaryFolder();

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
    // Ascending by id, as the store returns them.
    const created = plants.filter((_, index) => outcomes[index] === 200);
    expect(await sqliteStore(join(folder, 'pipelined.db')).readPlants()).to.deep.equal(created);
  });

  it('rejects stalled requests with 50303 after half of SHUTDOWN_TIMEOUT, waits for a create that is being stored, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:slow.db', SHUTDOWN_TIMEOUT: '8s' });
    const port = await service.port();
    const { finish } = await beginCreate(port, { id: 1n, name: 'Monstera' });
    const file = await SqliteFile.open(join(folder, 'slow.db'));
    await file.exec('BEGIN EXCLUSIVE');
    const created = finish().readResponse();
    const clients = new Map<string, RawClient>();
    for (const [where, bytes] of Object.entries(STALLED))
      clients.set(where, (await RawClient.connect(port)).send(bytes));
    const silent = await RawClient.connect(port);
    silent.socket.pause();
    silent.send(Buffer.concat(Array(20).fill(request('GET /docs/swagger-ui-bundle.js'))));
    // The service has read everything once a later request has a response.
    await exchange(port, request('GET /openapi.json'));

    const startedAt = performance.now();
    service.kill('SIGTERM');
    for (const [where, client] of clients) {
      const response = (await client.readAllResponses()).at(-1);
      expect(response?.outcome, where).to.equal(50303);
      expect(response?.headers, where).to.include({ connection: 'close' }).and.to.have.property('retry-after');
    }
    expect(performance.now() - startedAt).to.be.at.least(4000);
    await file.exec('COMMIT');
    expect((await created)?.outcome).to.equal(200);
    expect(await service.exited()).to.equal(0);
    await file.close();
  });
});
