import { createConnection } from 'node:net';
import { expect } from 'chai';
import { it } from 'mocha';
import { RawClient, type RawResponse, request } from '../../../support/raw-http.js';
import {
  Gate,
  httpSuite,
  newPlant,
  type Options,
  outcome,
  post,
  postHead,
  startInTest,
  type TestServer,
  waitUntilRead,
} from './support.js';

/** Longer than a test takes, so that a shutdown that waits for it fails the test. */
const LONG_MS = 600_000;

httpSuite('A shutdown', () => {
  const start = startInTest();
  const startBlocked = async (options: (gate: Gate) => Options) => {
    const gate = new Gate();
    return { gate, server: await start(options(gate)) };
  };
  const connect = ({ port }: TestServer) => RawClient.connect(port);

  it('waits for nothing when idle, and closes connections that are idle or have not been used', async () => {
    const server = await start();
    const [unused, idle] = [await connect(server), await connect(server)];
    expect(outcome(await idle.send(post()).readResponse())).to.equal(200);
    const stopped = server.stop(LONG_MS);
    expect(await Promise.all([unused, idle].map((client) => client.readAllResponses()))).to.deep.equal([[], []]);
    expect(await stopped).to.equal(true);
  });

  for (const [what, afterwards] of [
    ['disconnected', (client: RawClient) => client.close()],
    ['keeps its connection open', () => {}],
  ] as const) {
    it(`does not wait for a client that was rejected early and ${what}`, async () => {
      const server = await start();
      const client = (await connect(server)).send(request('POST /plants', { 'Content-Length': '1000' }));
      expect(outcome(await client.readResponse())).to.equal(40101);
      afterwards(client);
      expect(await server.stop(LONG_MS)).to.equal(true);
    });
  }

  for (const [what, options] of [
    ['in flight', ({ createPlant }: Gate) => ({ createPlant })],
    ['being authenticated', (gate: Gate) => ({ tokenVerifier: gate.beforeFirstVerify() })],
  ] as const) {
    it(`finishes requests ${what} and announces the end of their connections`, async () => {
      const { gate, server } = await startBlocked(options);
      const clients = await Promise.all(Array.from({ length: 5 }, () => connect(server)));
      for (const client of clients) client.send(post());
      await gate.arrived;
      await waitUntilRead(server);
      const stopped = server.stop(LONG_MS);
      gate.open();
      for (const client of clients) {
        const [response, ...more] = await client.readAllResponses();
        expect(outcome(response)).to.equal(200);
        expect(more).to.be.empty;
      }
      expect(await stopped).to.equal(true);
    });
  }

  it('finishes pipelined requests', async () => {
    const { gate, server } = await startBlocked(({ createPlant }) => ({ createPlant }));
    const client = (await connect(server)).send(Buffer.concat([post(), post(), post()]));
    await waitUntilRead(server);
    const stopped = server.stop(LONG_MS);
    gate.open();
    const responses = await client.readAllResponses();
    expect(responses.map(outcome)).to.deep.equal([200, 200, 200]);
    expect(responses.at(-1)?.headers).to.include({ connection: 'close' });
    expect(await stopped).to.equal(true);
  });

  it('waits for a body that has not arrived', async () => {
    const server = await start();
    const client = await connect(server);
    const body = newPlant();
    await client.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).readResponse();
    const stopped = server.stop(LONG_MS);
    await new Promise(setImmediate);
    const [response] = await client.send(body).readAllResponses();
    expect(outcome(response)).to.equal(200);
    expect(response?.headers).to.include({ connection: 'close' });
    expect(await stopped).to.equal(true);
  });

  for (const [what, bytes] of Object.entries({
    'whose body': postHead({ 'Content-Length': '100' }),
    'part of whose headers': 'POST /plants HTTP/1.1\r\nHost: te',
  })) {
    it(`responds with 50303 after half of its timeout to a request ${what} has not arrived`, async () => {
      const server = await start();
      const client = (await connect(server)).send(bytes);
      await waitUntilRead(server);
      const startedAt = performance.now();
      const stopped = server.stop(2000);
      expectShuttingDown(await client.readResponse());
      expect(performance.now() - startedAt).to.be.at.least(990);
      expect(await stopped).to.equal(true);
    });
  }

  it('disconnects a client that does not read its response after half of its timeout', async () => {
    const server = await start();
    const client = await connect(server);
    client.socket.pause();
    client.send(Buffer.concat(Array.from({ length: 5000 }, () => request('GET /openapi.json'))));
    await waitUntilRead(server);
    const startedAt = performance.now();
    await server.stop(LONG_MS / 100);
    expect(performance.now() - startedAt).to.be.below(LONG_MS / 100);
  });

  it('closes a connection on which a response is being sent', async () => {
    let stopped: Promise<boolean> | undefined;
    // Runs after the headers of the response have been written.
    const onRequestEnd = () => process.nextTick(() => (stopped ??= server.stop(LONG_MS)));
    const server = await start({ onRequestEnd });
    const client = (await connect(server)).send(post());
    expect((await client.readAllResponses()).map(outcome)).to.deep.equal([200]);
    expect(await stopped).to.equal(true);
  });

  it('rejects connections, and requests on connections with a request in flight', async () => {
    const { gate, server } = await startBlocked(({ createPlant }) => ({ createPlant }));
    const client = (await connect(server)).send(post());
    await gate.arrived;
    const stopped = server.stop(LONG_MS);
    client.send(post());
    await waitUntilConnectionsAreRejected(server);
    gate.open();
    expect((await client.readAllResponses()).map(outcome)).to.deep.equal([200]);
    expect(await stopped).to.equal(true);
  });

  it('disconnects clients with unfinished requests at its timeout, and reports them', async () => {
    const { gate, server } = await startBlocked(({ createPlant }) => ({ createPlant }));
    // Node's own closeAllConnections does not know a connection after CONNECT.
    const client = (await connect(server)).send(Buffer.concat([post(), request('CONNECT a:1')]));
    await gate.arrived;
    const startedAt = performance.now();
    const stopped = server.stop(100);
    expect(await client.readAllResponses()).to.deep.equal([]);
    expect(performance.now() - startedAt).to.be.at.least(90);
    gate.open();
    expect(await stopped).to.equal(false);
  });
});

function expectShuttingDown(response: RawResponse | undefined): void {
  expect(outcome(response)).to.equal(50303);
  expect(response?.headers).to.include({ connection: 'close' });
  expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
}

async function waitUntilConnectionsAreRejected({ port }: TestServer): Promise<void> {
  for (let rejected = false; !rejected; ) {
    rejected = await new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => socket.destroy());
      socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED'));
      socket.on('close', () => resolve(false));
    });
  }
}
