import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, serve, TOKEN, toOutcome } from '../support/client.js';
import { endProgramsAfterEach, type Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

describe('A graceful shutdown with a stalled client', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  const head = (headers: Readonly<Record<string, string>>) =>
    request('POST /plants', { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers });
  const started = '{"id":1,"name":"Mon';
  const stalled = {
    'before its body': `${head({ 'Content-Length': '100' })}`,
    'in its body': `${head({ 'Content-Length': '100' })}${started}`,
    'in a chunk': `${head({ 'Transfer-Encoding': 'chunked' })}64\r\n${started}`,
    'in a compressed body': `${head({ 'Content-Length': '100', 'Content-Encoding': 'gzip' })}\x1f`,
    'after another request': `${request('GET /plants')}${head({ 'Content-Length': '100' })}`,
  };

  /** Sends part of a create over a new connection, and waits until the service has read it. */
  async function stall(service: Program, bytes: string): Promise<RawClient> {
    const client = (await RawClient.connect(await service.port())).send(bytes);
    // The service has read the bytes once a later request has a response.
    await exchange(await service.port(), request('GET /plants'));
    return client;
  }

  it('rejects each stalled request with 50303 after half of SHUTDOWN_TIMEOUT, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '8s' });
    const clients: Record<string, RawClient> = {};
    for (const [where, bytes] of Object.entries(stalled)) clients[where] = await stall(service, bytes);
    const startedAt = performance.now();
    service.kill('SIGTERM');
    for (const [where, client] of Object.entries(clients)) {
      const response = (await client.readAllResponses()).at(-1);
      expect(toOutcome(response), where).to.equal(50303);
      expect(response?.headers, where).to.include({ connection: 'close' }).and.to.have.property('retry-after');
    }
    expect(performance.now() - startedAt).to.be.at.least(4000);
    expect(await service.exited()).to.equal(0);
  });

  it('exits as soon as the stalled client has its response and disconnects', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '12s' });
    const client = await stall(service, stalled['in its body']);
    service.kill('SIGTERM');
    expect(toOutcome(await client.readResponse())).to.equal(50303);
    const disconnectedAt = performance.now();
    client.close();
    expect(await service.exited()).to.equal(0);
    expect(performance.now() - disconnectedAt).to.be.below(5000);
  });

  it('enforces REQUEST_TIMEOUT during the shutdown', async () => {
    const timeouts = { HEADERS_TIMEOUT: '2s', REQUEST_TIMEOUT: '2s', SHUTDOWN_TIMEOUT: '60s' };
    const service = serve(folder, { DATABASE_URL: 'memory:', ...timeouts });
    const client = await stall(service, stalled['in its body']);
    service.kill('SIGTERM');
    expect((await client.readAllResponses()).map(toOutcome)).to.deep.equal([40801]);
    expect(await service.exited()).to.equal(0);
  });

  it('waits for a create that is being stored meanwhile, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:slow.db', SHUTDOWN_TIMEOUT: '8s' });
    const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
    const file = await SqliteFile.open(join(folder, 'slow.db'));
    await file.exec('BEGIN EXCLUSIVE');
    const created = finish().readResponse();
    const client = await stall(service, stalled['in its body']);
    service.kill('SIGTERM');
    expect(toOutcome(await client.readResponse())).to.equal(50303);
    await file.exec('COMMIT');
    expect(toOutcome(await created)).to.equal(200);
    expect(await service.exited()).to.equal(0);
    await file.close();
  });

  it('exits with 0 after half of SHUTDOWN_TIMEOUT if a client does not read its responses', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '10s' });
    const port = await service.port();
    const client = await RawClient.connect(port, { isRecorded: false });
    client.socket.pause();
    client.send(Buffer.concat(Array(20).fill(request('GET /docs/swagger-ui-bundle.js'))));
    await exchange(port, request('GET /openapi.json'));
    const startedAt = performance.now();
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    expect(performance.now() - startedAt).to.be.within(5000, 9900);
    client.close();
  });
});
