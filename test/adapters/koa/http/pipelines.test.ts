import { expect } from 'chai';
import { it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import {
  Gate,
  HEADERS,
  newPlant,
  post,
  postHead,
  sharedService,
  startInTest,
  stored,
  verdict,
  verdictsToEnd,
  waitUntilRead,
  withAdd,
} from '../support.js';

const LAST = { Connection: 'close' };

/** Pipelining and persistent connections. */
httpSuite('pipelining', (start) => {
  const service = sharedService(start);
  const startOne = startInTest(start);

  it('processes pipelined requests one at a time, in order', async () => {
    let inFlight = 0;
    let maxInFlight = 0;
    const countInFlight = withAdd(async (plants, repository) => {
      maxInFlight = Math.max(maxInFlight, ++inFlight);
      await new Promise(setImmediate);
      return repository.add(plants).finally(() => inFlight--);
    });
    const ownService = await startOne({}, countInFlight);
    const client = await RawClient.connect(ownService.port);
    const names = Array.from({ length: 50 }, (_, index) => `${index}`);
    client.send(Buffer.concat([...names.map((name) => post(newPlant({ name }))), post('{}', LAST)]));
    const responses = await client.readAllResponses();
    expect(responses.slice(0, -1).map(({ body }) => body)).to.deep.equal(names.map((name) => `{"name":"${name}"}`));
    expect(verdict(responses.at(-1))).to.equal(40002);
    expect(maxInFlight).to.equal(1);
  });

  it('does not respond to a request before the previous one is finished', async () => {
    const gate = new Gate();
    const ownService = await startOne({}, gate.beforeAdd());
    const client = await RawClient.connect(ownService.port);
    client.send(Buffer.concat([post(), post('{', LAST)]));
    await gate.arrived;
    await waitUntilRead(ownService);
    expect(client.socket.bytesRead).to.equal(0);
    gate.open();
    expect((await client.readAllResponses()).map(verdict)).to.deep.equal([200, 40001]);
  });

  it('processes nothing after an HTTP/1.0 request', async () => {
    const ownService = await startOne();
    const http10 = Buffer.from(`${post()}`.replace('HTTP/1.1', 'HTTP/1.0'));
    expect(await verdictsToEnd(ownService, Buffer.concat([http10, post()]))).to.deep.equal([200]);
    expect(await stored(ownService)).to.have.length(1);
  });

  const garbage: Record<string, [bytes: string | Uint8Array, error: number]> = {
    'a line of garbage': ['garbage\r\n\r\n', 40000],
    NULs: [Buffer.alloc(100), 40000],
    'headers that are too large': [`POST /plants HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 43101],
    'a request without Host': ['POST /plants HTTP/1.1\r\nConnection: close\r\n\r\n', 40000],
  };
  for (const [what, [bytes, error]] of Object.entries(garbage)) {
    it(`responds to a valid request, then to ${what} in the same packet, and closes the connection`, async () => {
      const gate = new Gate();
      const ownService = await startOne({}, gate.beforeAdd());
      const client = await RawClient.connect(ownService.port);
      client.send(Buffer.concat([post(), Buffer.from(bytes)]));
      const responses = client.readAllResponses();
      await gate.arrived;
      await waitUntilRead(ownService);
      gate.open();
      expect((await responses).map(verdict)).to.deep.equal([200, error]);
    });
  }

  it('sends one response to garbage in several packets', async () => {
    const client = await RawClient.connect(service().port);
    const responses = client.readAllResponses();
    for (let times = 0; times < 5; times++) {
      client.send('garbage\r\n\r\n');
      await new Promise(setImmediate);
    }
    expect((await responses).map(verdict)).to.deep.equal([40000]);
  });

  it('responds to a half-closed client', async () => {
    const gate = new Gate();
    const ownService = await startOne({}, gate.beforeAdd());
    const client = await RawClient.connect(ownService.port);
    client.send(Buffer.concat([post(), post()])).socket.end();
    await gate.arrived;
    await waitUntilRead(ownService);
    gate.open();
    expect((await client.readAllResponses()).map(verdict)).to.deep.equal([200, 200]);
  });

  it('never processes requests inside a rejected body', async () => {
    const ownService = await startOne({ BODY_LIMIT: '1kb' });
    const hidden = Buffer.concat(Array.from({ length: 20 }, () => post()));
    const size = { 'Content-Length': `${hidden.length}` };
    const rejected: [head: Buffer, error: number][] = [
      [request('POST /plants', size), 40101],
      [postHead({ Authorization: 'Bearer wrong', ...size }), 40102],
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
        const client = await RawClient.connect(ownService.port);
        client.socket.setNoDelay(true);
        client.send(Buffer.concat([head, hidden.subarray(0, split)]));
        if (split < hidden.length) await new Promise(setImmediate);
        client.send(hidden.subarray(split));
        expect(verdict(await client.readResponse())).to.equal(error);
        client.close();
      }
    }
    expect(await stored(ownService)).to.be.empty;
  });
});
