import { expect } from 'chai';
import { it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { request } from '../../../support/raw-http.js';
import { Gate, httpSuite, newPlant, post, readOutcomes } from './support.js';

/** Longer than a test takes, so that a shutdown that waits for it fails the test. */
const LONG_MS = 600_000;

httpSuite('A shutdown', {}, ({ start }) => {
  it('waits for nothing when idle, and closes connections without a request in progress', async () => {
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    const [unused, idle, early] = [await server.connect(), await server.connect(post()), await server.connect('POST')];
    expect(await idle.readResponse()).to.include({ outcome: 200 });
    expect(server.isStopping).to.equal(false);
    const stopped = server.stop();
    expect(server.isStopping).to.equal(true);
    expect(await Promise.all([unused, idle, early].map(readOutcomes))).to.deep.equal([[], [], []]);
    await stopped;
  });

  it('finishes requests in flight, also pipelined ones, and announces the end of the connection', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, shutdownTimeoutMs: LONG_MS });
    const client = await server.connect(Buffer.concat([post(), post(), post()]));
    await gate.arrived;
    await server.waitUntilRead();
    const stopped = server.stop();
    client.send(post());
    expect(await catchError(server.connect())).to.include({ code: 'ECONNREFUSED' });
    gate.open();
    const responses = await client.readAllResponses();
    expect(responses.map(({ outcome }) => outcome)).to.deep.equal([200, 200, 200]);
    expect(responses.at(-1)?.headers).to.include({ connection: 'close' });
    await stopped;
  });

  it('waits for a body that has not arrived', async () => {
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    const body = newPlant();
    const client = await server.connect(post('', { 'Content-Length': `${body.length}`, Expect: '100-continue' }));
    await client.readResponse();
    const stopped = server.stop();
    await new Promise(setImmediate);
    const [response] = await client.send(body).readAllResponses();
    expect(response).to.include({ outcome: 200 }).and.nested.include({ 'headers.connection': 'close' });
    await stopped;
  });

  it('closes a connection on which a response is being sent', async () => {
    let stopped: Promise<void> | undefined;
    // Runs after the headers of the response have been written.
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    server.api.observe(() => process.nextTick(() => (stopped ??= server.stop())));
    expect(await readOutcomes(await server.connect(post()))).to.deep.equal([200]);
    await stopped;
  });

  it('sends started responses to the end if the client reads slowly', async () => {
    const server = await start({ docs: true, shutdownTimeoutMs: LONG_MS });
    const client = await server.connect();
    client.socket.pause();
    client.send(Buffer.concat(Array(10).fill(request('GET /docs/swagger-ui-bundle.js'))));
    await server.waitUntilRead();
    const stopped = server.stop();
    await new Promise(setImmediate);
    client.socket.resume();
    const responses = await client.readAllResponses();
    expect(responses).to.have.length(10);
    for (const { headers, body } of responses) expect(`${Buffer.byteLength(body)}`).to.equal(headers['content-length']);
    await stopped;
  });

  it('disconnects at its timeout a client that does not send its body', async () => {
    const server = await start({ shutdownTimeoutMs: 200 });
    const client = await server.connect(post('', { 'Content-Length': '100', Expect: '100-continue' }));
    await client.readResponse();
    const startedAt = performance.now();
    await server.stop();
    expect(performance.now() - startedAt).to.be.within(190, 10_000);
    await client.ended();
  });
});
