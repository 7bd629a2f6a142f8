import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect } from 'chai';
import { it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { request } from '../../../support/raw-http.js';
import { Gate, httpSuite, newPlant, type Options, post, readOutcomes } from './support.js';

/** Longer than a test takes, so that a shutdown that waits for it fails the test. */
const LONG_MS = 600_000;

httpSuite('A shutdown', {}, ({ start }) => {
  const startBlocked = async (options: Options = {}) => {
    const gate = new Gate();
    return { gate, server: await start({ createPlant: gate.createPlant, ...options }) };
  };

  it('waits for nothing when idle, and closes connections that are idle or have not been used', async () => {
    const server = await start();
    const [unused, idle] = [await server.connect(), await server.connect(post())];
    expect(await idle.readResponse()).to.include({ outcome: 200 });
    expect(server.isStopping).to.equal(false);
    const stopped = server.stop(LONG_MS);
    expect(server.isStopping).to.equal(true);
    expect(await Promise.all([unused, idle].map(readOutcomes))).to.deep.equal([[], []]);
    expect(await stopped).to.equal(true);
  });

  const incomplete = request('POST /plants', { 'Content-Length': '1000' });
  for (const [bytes, outcome, timeoutMs] of [
    [incomplete, 40101, LONG_MS],
    [incomplete, 40101, 1500],
    ['garbage\r\n\r\n', 40000, LONG_MS],
    ['garbage\r\n\r\n', 40000, 1500],
  ] as const) {
    it(`of ${timeoutMs} ms does not wait for a client that got ${outcome} and stays, and sends nothing else`, async () => {
      const errors: unknown[] = [];
      const server = await start({ onRequestEnd: ({ error }) => errors.push(error) });
      const socket = createConnection({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.write(bytes);
      const [response] = await once(socket, 'data');
      expect(`${response}`).to.include(outcome);
      expect(await server.stop(timeoutMs)).to.equal(true);
      expect(errors).to.deep.equal([outcome]);
      socket.destroy();
    });
  }

  it('finishes requests in flight, also pipelined ones, and announces the end of the connection', async () => {
    const { gate, server } = await startBlocked();
    const client = await server.connect(Buffer.concat([post(), post(), post()]));
    await gate.arrived;
    await server.waitUntilRead();
    const stopped = server.stop(LONG_MS);
    gate.open();
    const responses = await client.readAllResponses();
    expect(responses.map(({ outcome }) => outcome)).to.deep.equal([200, 200, 200]);
    expect(responses.at(-1)?.headers).to.include({ connection: 'close' });
    expect(await stopped).to.equal(true);
  });

  it('waits for a body that has not arrived', async () => {
    const server = await start();
    const body = newPlant();
    const client = await server.connect(post('', { 'Content-Length': `${body.length}`, Expect: '100-continue' }));
    await client.readResponse();
    const stopped = server.stop(LONG_MS);
    await new Promise(setImmediate);
    const [response] = await client.send(body).readAllResponses();
    expect(response).to.include({ outcome: 200 }).and.nested.include({ 'headers.connection': 'close' });
    expect(await stopped).to.equal(true);
  });

  for (const [what, bytes, earlier] of [
    ['whose body', post('', { 'Content-Length': '100' }), []],
    ['part of whose headers', 'POST /plants HTTP/1.1\r\nHost: te', []],
    ['part of whose headers, after another request,', 'POST', [post()]],
  ] as const) {
    it(`responds with 50303 after half of its timeout to a request ${what} has not arrived`, async () => {
      const server = await start();
      const client = await server.connect();
      for (const request of earlier) await client.send(request).readResponse();
      client.send(bytes);
      await server.waitUntilRead();
      const startedAt = performance.now();
      const stopped = server.stop(1000);
      const response = await client.readResponse();
      expect(performance.now() - startedAt).to.be.at.least(490);
      expect(response).to.include({ outcome: 50303 }).and.nested.include({ 'headers.connection': 'close' });
      expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
      expect(await stopped).to.equal(true);
    });
  }

  it('responds with 50303 to a request that it reads after half of its timeout, and that has not arrived', async () => {
    const { gate, server } = await startBlocked();
    const late = await server.connect('POST');
    const large = () => post(newPlant({ name: 'x'.repeat(500) }));
    const client = await server.connect(
      Buffer.concat([...Array(8).fill(large()), post('', { 'Content-Length': '9' })]),
    );
    await gate.arrived;
    await server.waitUntilRead();
    const stopped = server.stop(1000);
    expect(await late.readResponse()).to.include({ outcome: 50303 });
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([...Array(8).fill(200), 50303]);
    expect(await stopped).to.equal(true);
  });

  it('disconnects a client that does not read its responses', async () => {
    const server = await start();
    const client = await server.connect();
    client.socket.pause();
    client.send(Buffer.concat(Array.from({ length: 5000 }, () => request('GET /openapi.json'))));
    await server.waitUntilRead();
    const startedAt = performance.now();
    await server.stop(3000);
    expect(performance.now() - startedAt).to.be.below(3000);
  });

  it('reports a request without a response whose client has not read the responses before it', async () => {
    const { gate, server } = await startBlocked({ docs: true });
    const client = await server.connect();
    client.socket.pause();
    // More than the operating system buffers.
    client.send(Buffer.concat([...Array(6).fill(request('GET /docs/swagger-ui-bundle.js')), post()]));
    await gate.arrived;
    await server.waitUntilRead();
    expect(await server.stop(LONG_MS)).to.equal(false);
  });

  it('closes a connection on which a response is being sent', async () => {
    let stopped: Promise<boolean> | undefined;
    // Runs after the headers of the response have been written.
    const onRequestEnd = () => process.nextTick(() => (stopped ??= server.stop(LONG_MS)));
    const server = await start({ onRequestEnd });
    expect(await server.sendToEnd(post())).to.deep.equal([200]);
    expect(await stopped).to.equal(true);
  });

  it('rejects connections, and requests on connections with a request in flight', async () => {
    const { gate, server } = await startBlocked();
    const client = await server.connect(post());
    await gate.arrived;
    const stopped = server.stop(LONG_MS);
    client.send(post());
    expect(await catchError(server.connect())).to.include({ code: 'ECONNREFUSED' });
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
    expect(await stopped).to.equal(true);
  });

  it('disconnects clients with unfinished requests at its timeout, and reports them', async () => {
    const { gate, server } = await startBlocked();
    // Node's own closeAllConnections does not know a connection after CONNECT.
    const client = await server.connect(Buffer.concat([post(), request('GET /nothing'), request('CONNECT a:1')]));
    await gate.arrived;
    const startedAt = performance.now();
    const stopped = server.stop(100);
    expect(await client.readAllResponses()).to.deep.equal([]);
    expect(performance.now() - startedAt).to.be.at.least(90);
    gate.open();
    expect(await stopped).to.equal(false);
  });
});
