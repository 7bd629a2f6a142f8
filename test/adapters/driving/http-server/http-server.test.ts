import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { catchError } from '../../../support/catch-error.js';
import { Gate, httpServers, post, readOutcomes, SWAGGER_UI } from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';

/** Ten responses are more than the buffers of the operating system hold. */
const TEN_PAGES = Buffer.concat(Array(10).fill(request('GET /docs/swagger-ui-bundle.js')));

/** Short, because Node checks for timeouts only every 500 ms. */
const TIMEOUTS = { headersTimeoutMs: 150, requestTimeoutMs: 150, keepAliveTimeoutMs: 500 };

/** Longer than a test takes, so that a shutdown that waits for it fails the test. */
const LONG_MS = 600_000;

describe('A connection', () => {
  const start = httpServers();

  it('hands over one request at a time, and is not read while others wait', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const client = await server.connect(Buffer.concat(Array(17).fill(post())));
    await gate.arrived;
    // More than the buffers of the operating system hold.
    client.send(Buffer.concat(Array(1500).fill(request(`GET /plants?${'x'.repeat(15_000)}`))));
    for (let round = 0; round < 200; round++) await server.waitUntilRead();
    expect(client.socket.writableLength).to.be.above(0);
    expect(gate.calls).to.equal(1);
    gate.open();
    for (let number = 0; number < 17; number++) expect(await client.readResponse()).to.include({ outcome: 200 });
    for (let number = 0; number < 1500; number++) expect(await client.readResponse()).to.include({ outcome: 40501 });
    client.close();
  });

  it('with more than 512 requests without a response is closed', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const client = await server.connect(Buffer.concat([post(), ...Array(600).fill(request('GET /'))]));
    await gate.arrived;
    await server.firstClosed();
    client.close();
    gate.open();
  });

  it('beyond the maximum number is closed at once', async () => {
    const server = await start({ maxConnections: 2 });
    const clients = [await server.connect(), await server.connect(post())];
    expect(await clients[1]?.readResponse()).to.include({ outcome: 200 });
    expect(await readOutcomes(await server.connect(post()))).to.deep.equal([]);
    for (const client of clients) client.close();
    await server.firstClosed();
    expect(await server.send()).to.equal(200);
  });

  it('keeps nothing of its last request', async () => {
    const server = await start();
    const client = await server.connect(post('', { Authorization: '', 'Content-Length': '1' }));
    expect(await client.readResponse()).to.include({ outcome: 40101 });
    client.send('x');
    await server.waitUntilRead();
    expect(await server.isCollected(), 'the request').to.equal(true);
    client.close();
  });

  it('is closed when it is idle for longer than the keep-alive timeout, but not before a late response', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, keepAliveTimeoutMs: 50 });
    const slow = await server.connect(Buffer.concat([request('GET /nothing'), post()]));
    expect(await slow.readResponse()).to.include({ outcome: 40401 });
    await gate.arrived;
    const idle = await server.connect(request('GET /nothing'));
    expect(await readOutcomes(idle)).to.deep.equal([40401]);
    gate.open();
    expect(await slow.readResponse()).to.include({ outcome: 200 });
  });

  it('is closed if the client does not read a response', async () => {
    const server = await start({ swaggerUiFolder: SWAGGER_UI, keepAliveTimeoutMs: 200 });
    const client = await server.connect();
    client.socket.pause();
    client.send(TEN_PAGES);
    await server.waitUntilRead();
    await server.firstClosed();
    client.close();
  });

  it('ends after the pending responses because of a malformed body, without a response to it', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const malformed = post('x\r\n', { 'Transfer-Encoding': 'chunked' });
    const client = await server.connect(Buffer.concat([post(), malformed, post()]));
    await gate.arrived;
    await server.waitUntilRead();
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  it('ends after a request with Upgrade, and handles nothing that follows', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const upgrade = post(newPlant(), { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' });
    const client = await server.connect(Buffer.concat([upgrade, post(), post().subarray(0, 40)]));
    await gate.arrived;
    client.send(post());
    await server.waitUntilRead();
    expect(gate.calls).to.equal(1);
    gate.open();
    const [response, ...others] = await client.readAllResponses();
    expect(response).to.include({ outcome: 200 }).and.nested.include({ 'headers.connection': 'close' });
    expect(others).to.deep.equal([]);
  });

  it('gets a 405 for CONNECT, also if the client leaves before', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const connect = Buffer.concat([post(), request('CONNECT plants.example:443')]);
    const [client, leaving] = [await server.connect(connect), await server.connect(connect)];
    await gate.arrived;
    await server.waitUntilRead();
    leaving.socket.resetAndDestroy();
    gate.open();
    const [created, rejected, ...others] = await client.readAllResponses();
    expect(created).to.include({ outcome: 200 });
    expect(rejected).to.include({ outcome: 40501 }).and.nested.include({ 'headers.connection': 'close' });
    expect(rejected?.headers['allow']).to.include('POST').and.not.include('CONNECT');
    expect(others).to.deep.equal([]);
    expect(await server.send()).to.equal(200);
  });

  it('gets an early response with Connection: close although the client goes on sending', async () => {
    const server = await start();
    const client = await server.connect();
    client.socket.pause();
    client.send(post('', { Authorization: '', Connection: 'close', 'Content-Length': '3000000' }));
    await server.waitForFinished(1);
    // Without a reader, a reset would take the response away.
    await new Promise<void>((resolve) => client.socket.write(Buffer.alloc(1_000_000), () => resolve()));
    await server.waitUntilRead();
    client.socket.resume();
    expect(await client.readResponse()).to.include({ outcome: 40101 });
    client.close();
  });

  it('gets no second response if the rest of a body is malformed after an early one', async () => {
    const server = await start();
    const client = await server.connect(post('', { Authorization: '', 'Transfer-Encoding': 'chunked' }));
    expect(await client.readResponse()).to.include({ outcome: 40101 });
    expect(await readOutcomes(client.send('x\r\n'))).to.deep.equal([]);
  });

  it('gets no response if the client ends it within a request', async () => {
    const server = await start();
    const client = await server.connect(post().subarray(0, 40));
    client.socket.end();
    expect(await readOutcomes(client)).to.deep.equal([]);
  });

  it('may carry a request without Host', async () => {
    const server = await start();
    expect(await server.send(`${post()}`.replace('Host: test\r\n', ''))).to.equal(200);
  });
});

describe('A late client', () => {
  const start = httpServers();

  for (const { title, bytes } of [
    { title: 'that never sends anything gets 40801', bytes: '' },
    { title: 'that stops before its body gets 40801', bytes: post('', { 'Content-Length': '100' }) },
  ]) {
    it(title, async () => {
      const server = await start({ ...TIMEOUTS, keepAliveTimeoutMs: 20 });
      const [response, ...others] = await (await server.connect(bytes)).readAllResponses();
      expect(response).to.include({ outcome: 40801 }).and.nested.include({ 'headers.connection': 'close' });
      expect(others).to.deep.equal([]);
    });
  }

  it('gets the response to its previous request instead', async () => {
    const gate = new Gate();
    const server = await start({ ...TIMEOUTS, createPlant: gate.createPlant });
    const client = await server.connect(Buffer.concat([post(), post().subarray(0, 40)]));
    await gate.arrived;
    // Node has checked for requests that timed out.
    expect(await (await server.connect()).readResponse()).to.include({ outcome: 40801 });
    gate.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });

  it('gets no response to what follows, and nothing of that is handled', async () => {
    const [verifying, creating] = [new Gate(), new Gate()];
    const { tokenVerifier } = verifying;
    const server = await start({ ...TIMEOUTS, tokenVerifier, createPlant: creating.createPlant });
    const late = post();
    const client = await server.connect(Buffer.concat([post(), late.subarray(0, late.length - 5)]));
    await verifying.arrived;
    // Node has checked for requests that timed out.
    expect(await (await server.connect()).readResponse()).to.include({ outcome: 40801 });
    client.send(Buffer.concat([late.subarray(late.length - 5), post(), Buffer.from('garbage\r\n\r\n')]));
    // Then the first request reads its body, and the connection what follows.
    verifying.open();
    await creating.arrived;
    await server.waitUntilRead();
    creating.open();
    expect(await readOutcomes(client)).to.deep.equal([200]);
    expect(creating.calls).to.equal(1);
  });

  it('creates no plant with the rest of its body while its token is verified', async () => {
    const gate = new Gate();
    let creates = 0;
    const createPlant = { execute: async () => ({ kind: 'id-conflict', creates: ++creates }) as const };
    const server = await start({ ...TIMEOUTS, tokenVerifier: gate.tokenVerifier, createPlant });
    const late = post();
    const client = await server.connect(late.subarray(0, late.length - 5));
    expect(await client.readResponse()).to.include({ outcome: 40801 });
    client.socket.write(late.subarray(late.length - 5));
    gate.open();
    await server.waitForFinished(1);
    await server.firstClosed();
    expect(creates).to.equal(0);
  });

  for (const { title, sent } of [
    { title: 'creates no plant with the rest of its headers', sent: 40 },
    { title: 'creates no plant with the rest of its body', sent: post().length - 5 },
  ]) {
    it(title, async () => {
      const gate = new Gate();
      const server = await start({ ...TIMEOUTS, createPlant: gate.createPlant });
      const bytes = post();
      const client = await server.connect(bytes.subarray(0, sent));
      expect(await client.readResponse()).to.include({ outcome: 40801 });
      client.send(bytes.subarray(sent));
      await server.waitUntilRead();
      expect(gate.calls).to.equal(0);
    });
  }

  it('gets no 40801 after the response to a request whose body is late', async () => {
    const server = await start(TIMEOUTS);
    const client = await server.connect(request('GET /openapi.json', { 'Content-Length': '9' }));
    expect(await readOutcomes(client)).to.deep.equal([200]);
  });
});

describe('A shutdown', () => {
  const start = httpServers();

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

  it('closes an idle connection even if its client does not', async () => {
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    socket.write(post());
    await server.waitForFinished(1);
    await server.stop();
    socket.destroy();
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
    expect(gate.calls).to.equal(3);
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

  it('closes a connection on which a response has just been sent', async () => {
    let stopped: Promise<void> | undefined;
    const server = await start({
      shutdownTimeoutMs: LONG_MS,
      // Runs after the headers of the response have been written.
      observe: () => setImmediate(() => (stopped ??= server.stop())),
    });
    expect(await readOutcomes(await server.connect(post()))).to.deep.equal([200]);
    await stopped;
  });

  it('sends late requests their 408 before its timeout', async () => {
    const server = await start({ ...TIMEOUTS, shutdownTimeoutMs: LONG_MS });
    const client = await server.connect(post('', { 'Content-Length': '100', Expect: '100-continue' }));
    await client.readResponse();
    const stopped = server.stop();
    expect(await readOutcomes(client)).to.deep.equal([40801]);
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

describe('A response that waits for its client', () => {
  // More than the buffers of the operating system hold.
  const body = Buffer.alloc(20_000_000, 'x');
  const start = httpServers(() => (_, res) => res.end(body));

  it('is given up after the keep-alive timeout, also before a CONNECT', async () => {
    const server = await start({ keepAliveTimeoutMs: 200 });
    const client = await server.connect();
    client.socket.pause();
    client.send(request('GET /first')).send(request('CONNECT plants.example:443'));
    await server.firstRequest;
    await server.firstClosed();
    client.close();
  });

  it('is sent whole at a shutdown, also if another request has arrived', async () => {
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(request('GET /first'));
    await server.firstRequest;
    socket.write(request('GET /second'));
    const stopped = server.stop();
    const received = await buffer(socket);
    expect(received.toString().split('\r\n\r\n')[1]).to.have.lengthOf(body.length);
    await stopped;
  });
});

describe('A server with another listener', () => {
  /** Ends the response that has begun. */
  let finish: () => void;
  const start = httpServers(() => (_, res) => {
    res.write('start ');
    finish = () => res.end('end');
  });

  it('sends no second response after a malformed body while one is being sent', async () => {
    const server = await start();
    const client = await server.connect(post('0', { 'Transfer-Encoding': 'chunked' }));
    await server.firstRequest;
    client.send('x\r\n');
    // By then, the server has read what was sent before.
    expect(await server.send('garbage\r\n\r\n')).to.equal(40000);
    finish();
    const [response, ...others] = await client.readAllResponses();
    expect(response).to.include({ status: 200, body: 'start end' });
    expect(others).to.deep.equal([]);
  });

  it('stops when a response that is being sent has ended', async () => {
    const server = await start({ shutdownTimeoutMs: LONG_MS });
    const client = await server.connect(request('GET /hello'));
    await server.firstRequest;
    const stopped = server.stop();
    finish();
    expect((await client.readAllResponses()).map(({ body }) => body)).to.deep.equal(['start end']);
    await stopped;
  });
});
