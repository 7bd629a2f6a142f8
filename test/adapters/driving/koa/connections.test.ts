import { expect } from 'chai';
import { it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import {
  Gate,
  HEADERS,
  httpSuite,
  newPlant,
  outcome,
  post,
  postHead,
  send,
  sendToEnd,
  sharedServer,
  startInTest,
  waitUntilRead,
} from './support.js';

const LAST = { Connection: 'close' };

httpSuite('A connection', () => {
  const shared = sharedServer();
  const start = startInTest();

  it('carries 1,000 pipelined requests, a few of which are in progress at a time', async () => {
    let inFlight = 0;
    let maxInFlight = 0;
    const server = await start({
      createPlant: {
        async execute() {
          maxInFlight = Math.max(maxInFlight, ++inFlight);
          await new Promise(setImmediate);
          inFlight--;
          return { kind: 'id-taken' };
        },
      },
    });
    const requests = Array.from({ length: 1000 }, () => post());
    const outcomes = await sendToEnd(server, Buffer.concat([...requests, post('{}', LAST)]));
    expect(outcomes).to.deep.equal([...Array(1000).fill(40901), 40002]);
    expect(maxInFlight).to.be.within(1, 12);
  });

  it('carries the responses in the order of the requests', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant });
    const client = await RawClient.connect(server.port);
    client.send(Buffer.concat([post(), post('{', LAST)]));
    await gate.arrived;
    await waitUntilRead(server);
    expect(client.socket.bytesRead).to.equal(0);
    gate.open();
    expect((await client.readAllResponses()).map(outcome)).to.deep.equal([200, 40001]);
  });

  for (const [what, bytes, error] of [
    ['a line of garbage', 'garbage\r\n\r\n', 40000],
    ['NULs', Buffer.alloc(100), 40000],
    ['headers that are too large', `POST /plants HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 43101],
    ['a request without Host', 'POST /plants HTTP/1.1\r\nConnection: close\r\n\r\n', 40000],
    ['CONNECT and another request', Buffer.concat([request('CONNECT a:1'), post()]), undefined],
  ] as const) {
    it(`ends with the response to ${what}, after the response to a request in the same packet`, async () => {
      const gate = new Gate();
      const server = await start({ createPlant: gate.createPlant });
      const responses = sendToEnd(server, Buffer.concat([post(), Buffer.from(bytes)]));
      await gate.arrived;
      await waitUntilRead(server);
      gate.open();
      expect(await responses).to.deep.equal(error === undefined ? [200] : [200, error]);
    });
  }

  it('ends with a response that precedes the body of its request', async () => {
    const client = await RawClient.connect(shared().port);
    const responses = await client.send(request('GET /openapi.json', { 'Content-Length': '9' })).readAllResponses();
    expect(responses.map(({ status, headers }) => [status, headers['connection']])).to.deep.equal([[200, 'close']]);
  });

  it('ends with one response to garbage in several packets', async () => {
    const client = await RawClient.connect(shared().port);
    const responses = client.readAllResponses();
    for (let times = 0; times < 5; times++) {
      client.send('garbage\r\n\r\n');
      await new Promise(setImmediate);
    }
    expect((await responses).map(outcome)).to.deep.equal([40000]);
  });

  const expectation = { Expect: '100-continue' };
  for (const [what, bytes, outcomes, created] of [
    ['an HTTP/1.0 request', () => Buffer.from(`${post()}`.replace('HTTP/1.1', 'HTTP/1.0')), [200], 1],
    [
      'a request to upgrade',
      () => request('GET /nothing', { Connection: 'Upgrade', Upgrade: 'websocket' }),
      [40401],
      0,
    ],
    ['a discarded body', () => request('POST /plants', {}, Buffer.alloc(1024 ** 2 + 5000, 'x')), [40101], 0],
    ['an expectation without 100 Continue', () => post(newPlant(), { ...expectation, Authorization: '' }), [40101], 0],
    ['an expectation of another media type', () => post('{}', { ...expectation, 'Content-Type': 'x/y' }), [41501], 0],
  ] as const) {
    it(`processes nothing after ${what}`, async () => {
      const server = await start();
      expect(await sendToEnd(server, Buffer.concat([bytes(), post(), post()]))).to.deep.equal(outcomes);
      expect(server.created).to.have.lengthOf(created);
    });
  }

  it('processes nothing of a request that is completed after its 408', async () => {
    const server = await start({ headersTimeoutMs: 200, requestTimeoutMs: 200 });
    const client = await RawClient.connect(server.port);
    const late = post();
    const response = await client.send(late.subarray(0, 40)).readResponse();
    client.send(late.subarray(40));
    expect(outcome(response)).to.equal(40801);
    expect(await client.readAllResponses()).to.deep.equal([]);
    expect(server.created).to.be.empty;
  });

  it('never processes requests inside a rejected body', async () => {
    const server = await start({ bodyLimitBytes: 1024 });
    const hidden = Buffer.concat(Array.from({ length: 20 }, () => post()));
    const size = { 'Content-Length': `${hidden.length}` };
    const rejected: [head: Buffer, error: number][] = [
      [request('POST /plants', size), 40101],
      [postHead({ 'Content-Type': 'text/plain', ...size }), 41501],
      [postHead({ Expect: 'x', ...size }), 41701],
      [postHead(size), 41301],
      [request('PUT /plants', { ...HEADERS, ...size }), 40501],
      [request('POST /plant', { ...HEADERS, ...size }), 40401],
      [request('GET /openapi.json', { ...HEADERS, ...size, Host: 'test', host: 'test' }), 40000],
      [postHead({ ...size, 'Transfer-Encoding': 'chunked' }), 40000],
      [postHead({ 'Transfer-Encoding': 'chunked' }), 40000],
    ];
    for (const [head, error] of rejected) {
      for (const split of [0, 1, hidden.length]) {
        const client = await RawClient.connect(server.port);
        client.socket.setNoDelay(true);
        client.send(Buffer.concat([head, hidden.subarray(0, split)]));
        if (split < hidden.length) await new Promise(setImmediate);
        client.send(hidden.subarray(split));
        expect(outcome(await client.readResponse())).to.equal(error);
        client.close();
      }
    }
    expect(server.created).to.be.empty;
  });

  it('is closed after CONNECT even if the client does not read', async () => {
    const server = await start({ keepAliveTimeoutMs: 200 });
    const client = await RawClient.connect(server.port);
    client.socket.pause();
    const many = Array.from({ length: 80 }, () => request('GET /openapi.json'));
    client.send(Buffer.concat([...many, request('CONNECT a:1')]));
    // A client that does not read notices a closed connection only when it writes.
    const writing = setInterval(() => client.send('x'), 50);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(writing);
  });

  it('may be reset after CONNECT', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(shared().port)));
    for (const client of clients) {
      client.send(request('CONNECT test:443'));
      client.socket.resetAndDestroy();
    }
    expect(await send(shared())).to.equal(200);
  });

  it('is announced to stay open for the keep-alive timeout', async () => {
    const { port } = await start({ keepAliveTimeoutMs: 42_000 });
    expect((await exchange(port, post()))?.headers['keep-alive']).to.equal('timeout=42');
  });
});
