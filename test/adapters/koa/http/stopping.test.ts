import { createConnection } from 'node:net';
import { expect } from 'chai';
import { it } from 'mocha';
import { RawClient, type RawResponse, request } from '../../../support/raw-http.js';
import { storageSuite } from '../http-suite.js';
import {
  create,
  expectRetryAfter,
  Gate,
  newPlant,
  post,
  postHead,
  startInTest,
  verdict,
  waitUntilRead,
} from '../support.js';

const SHUTDOWN_TIMEOUT = { SHUTDOWN_TIMEOUT: '60s' };
/** Maximum time of a shutdown that waits for nothing, on a busy machine. */
const MAX_SHUTDOWN_MS = 10_000;

const expectShuttingDown = (response: RawResponse | undefined) => {
  expect(verdict(response)).to.equal(50303);
  expect(response?.headers).to.include({ connection: 'close' });
  expectRetryAfter(response);
};

storageSuite('shutdown', (start) => {
  const startOne = startInTest(start);

  it('waits for nothing when idle', async () => {
    const service = await startOne(SHUTDOWN_TIMEOUT);
    await create(service);
    const startedAt = performance.now();
    expect(await service.stop()).to.equal(true);
    expect(performance.now() - startedAt).to.be.below(MAX_SHUTDOWN_MS);
  });

  it('waits for nothing after a client was rejected early and disconnected', async () => {
    const service = await startOne(SHUTDOWN_TIMEOUT);
    const client = (await connect(service)).send(request('POST /plants', { 'Content-Length': '1000' }));
    expect(verdict(await client.readResponse())).to.equal(40101);
    client.close();
    const startedAt = performance.now();
    expect(await service.stop()).to.equal(true);
    expect(performance.now() - startedAt).to.be.below(MAX_SHUTDOWN_MS);
  });

  it('immediately closes connections that are idle or never sent a complete request', async () => {
    const service = await startOne(SHUTDOWN_TIMEOUT);
    const [unused, halfway, idle] = [await connect(service), await connect(service), await connect(service)];
    halfway.send('POST /plants HTTP/1.1\r\nHost: te');
    expect(verdict(await idle.send(post()).readResponse())).to.equal(200);
    const startedAt = performance.now();
    const stopped = service.stop();
    expect(await Promise.all([unused, halfway, idle].map((client) => client.readAllResponses()))).to.deep.equal([
      [],
      [],
      [],
    ]);
    expect(await stopped).to.equal(true);
    expect(performance.now() - startedAt).to.be.below(MAX_SHUTDOWN_MS);
  });

  it('finishes requests in flight and closes their connections', async () => {
    const gate = new Gate();
    const service = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect(service)));
    for (const client of clients) client.send(post(newPlant({ name: 'in flight' })));
    await gate.arrived;
    await waitUntilRead(service);
    const stopped = service.stop();
    gate.open();
    for (const client of clients) {
      const [response, ...more] = await client.readAllResponses();
      expect(response).to.include({ status: 200, body: '{"name":"in flight"}' });
      expect(response?.headers).to.include({ connection: 'close' });
      expect(more).to.be.empty;
    }
    expect(await stopped).to.equal(true);
  });

  it('finishes pipelined requests', async () => {
    const gate = new Gate();
    const service = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
    const client = (await connect(service)).send(Buffer.concat([post(), post(), post()]));
    await waitUntilRead(service);
    const stopped = service.stop();
    gate.open();
    expect((await client.readAllResponses()).map(verdict)).to.deep.equal([200, 200, 200]);
    expect(await stopped).to.equal(true);
  });

  it('waits for a body that has not arrived', async () => {
    const service = await startOne(SHUTDOWN_TIMEOUT);
    const client = await connect(service);
    const body = newPlant();
    await client.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).readResponse();
    const stopped = service.stop();
    await new Promise(setImmediate);
    const [response] = await client.send(body).readAllResponses();
    expect(verdict(response)).to.equal(200);
    expect(response?.headers).to.include({ connection: 'close' });
    expect(await stopped).to.equal(true);
  });

  it('responds with 50303 after half of SHUTDOWN_TIMEOUT to a request whose body has not arrived', async () => {
    const service = await startOne({ SHUTDOWN_TIMEOUT: '4s' });
    const client = (await connect(service)).send(postHead({ 'Content-Length': '100' }));
    await waitUntilRead(service);
    const startedAt = performance.now();
    const stopped = service.stop();
    expectShuttingDown(await client.readResponse());
    expect(performance.now() - startedAt).to.be.at.least(1990);
    expect(await stopped).to.equal(true);
  });

  it('finishes a request that is being authenticated', async () => {
    const gate = new Gate();
    const service = await startOne(SHUTDOWN_TIMEOUT, gate.beforeFirstVerify());
    const client = (await connect(service)).send(post());
    await gate.arrived;
    const stopped = service.stop();
    gate.open();
    const [response, ...more] = await client.readAllResponses();
    expect(verdict(response)).to.equal(200);
    expect(response?.headers).to.include({ connection: 'close' });
    expect(more).to.be.empty;
    expect(await stopped).to.equal(true);
  });

  for (const [what, warmUp] of Object.entries({ 'a fresh': false, 'an already used': true })) {
    it(`responds with 50303 to a request sent just before the shutdown, on ${what} connection`, async () => {
      const service = await startOne(SHUTDOWN_TIMEOUT);
      const client = await connect(service);
      if (warmUp) await client.send(post()).readResponse();
      client.send(post());
      const stopped = service.stop();
      expectShuttingDown(await client.readResponse());
      expect(await stopped).to.equal(true);
    });
  }

  it('does not process a request that arrives on an open connection after the shutdown has begun', async () => {
    const gate = new Gate();
    const service = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
    const client = (await connect(service)).send(post());
    await gate.arrived;
    const stopped = service.stop();
    client.send(post());
    await waitUntilConnectionsAreRejected(service);
    gate.open();
    expect((await client.readAllResponses()).map(verdict)).to.deep.equal([200]);
    expect(await stopped).to.equal(true);
  });

  it('rejects new connections', async () => {
    const gate = new Gate();
    const service = await startOne(SHUTDOWN_TIMEOUT, gate.beforeAdd());
    const response = create(service);
    await gate.arrived;
    const stopped = service.stop();
    await waitUntilConnectionsAreRejected(service);
    gate.open();
    expect(verdict(await response)).to.equal(200);
    expect(await stopped).to.equal(true);
  });

  it('disconnects clients with unfinished requests at SHUTDOWN_TIMEOUT and returns false', async () => {
    const gate = new Gate();
    const service = await startOne({ SHUTDOWN_TIMEOUT: '100ms' }, gate.beforeAdd());
    const client = (await connect(service)).send(post());
    await gate.arrived;
    const startedAt = performance.now();
    const stopped = service.stop();
    expect(await client.readAllResponses()).to.deep.equal([]);
    expect(performance.now() - startedAt).to.be.at.least(90);
    gate.open();
    expect(await stopped).to.equal(false);
  });

  it('is not delayed by a client that keeps its connection open after an early rejection', async () => {
    const service = await startOne(SHUTDOWN_TIMEOUT);
    const client = (await connect(service)).send(request('POST /plants', { 'Content-Length': '1000' }));
    expect(verdict(await client.readResponse())).to.equal(40101);
    const startedAt = performance.now();
    expect(await service.stop()).to.equal(true);
    expect(performance.now() - startedAt).to.be.below(MAX_SHUTDOWN_MS);
  });
});

function connect({ port }: { readonly port: number }): Promise<RawClient> {
  return RawClient.connect(port);
}

async function waitUntilConnectionsAreRejected({ port }: { readonly port: number }): Promise<void> {
  for (let rejected = false; !rejected; ) {
    rejected = await new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => socket.destroy());
      socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED'));
      socket.on('close', () => resolve(false));
    });
  }
}
