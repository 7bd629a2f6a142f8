import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import {
  Gate,
  httpSuite,
  newPlant,
  outcome,
  post,
  postHead,
  send,
  sendWhenFree,
  startInTest,
  waitUntilRead,
} from './support.js';

httpSuite('Requests in flight', () => {
  const start = startInTest();

  it('are rejected beyond the maximum number, with Retry-After, until a permit is free', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, maxInFlight: 3 });
    const accepted = Array.from({ length: 3 }, () => send(server));
    await waitUntilRead(server);
    const rejected = await exchange(server.port, post());
    expect(outcome(rejected)).to.equal(50302);
    expect(rejected?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
    gate.open();
    expect(await Promise.all(accepted)).to.deep.equal([200, 200, 200]);
    expect(await send(server)).to.equal(200);
  });

  it('do not include requests that are rejected before they need a permit', async () => {
    const server = await start({ maxInFlight: 0 });
    expect(await send(server, post(newPlant(), { Authorization: '' }))).to.equal(40101);
    expect(await send(server, post(newPlant(), { Authorization: 'Bearer wrong' }))).to.equal(40102);
    expect(await send(server, request('POST /plant'))).to.equal(40401);
    expect(await send(server, request('GET /plants'))).to.equal(40501);
    expect(await send(server)).to.equal(50302);
  });

  it('release their permit after a rejection because of their headers or body', async () => {
    const server = await start({ maxInFlight: 1, bodyLimitBytes: 1024 });
    const rejections: [Buffer, number][] = [
      [post(newPlant(), { Expect: 'x' }), 41701],
      [post(newPlant(), { 'Content-Type': 'text/plain' }), 41501],
      [postHead({ 'Content-Length': '2000' }), 41301],
      [post('x'.repeat(2000), { 'Content-Encoding': 'gzip' }), 40001],
      [post('{'), 40001],
      [post('{}'), 40002],
      [post(newPlant({ name: '\0' })), 40003],
      [post('z\r\n', { 'Transfer-Encoding': 'chunked' }), 40000],
    ];
    for (const [bytes, error] of rejections) {
      expect(await send(server, bytes)).to.equal(error);
      expect(await send(server), `after ${error}`).to.equal(200);
    }
  });

  for (const coding of ['identity', 'gzip']) {
    it(`release their permit when the client disconnects during authentication, before a body in ${coding}`, async () => {
      const gate = new Gate();
      const server = await start({ maxInFlight: 1, tokenVerifier: gate.beforeFirstVerify() });
      const client = await RawClient.connect(server.port);
      client.send(postHead({ 'Content-Encoding': coding, 'Content-Length': '100' }));
      await gate.arrived;
      client.socket.resetAndDestroy();
      await waitUntilRead(server);
      gate.open();
      expect(await sendWhenFree(server)).to.equal(200);
    });
  }

  it('are rejected beyond the maximum of bytes, which are reserved before the body arrives', async () => {
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 1024 });
    const slow = await RawClient.connect(server.port);
    const body = newPlant({ tag: 'x'.repeat(800) });
    await slow.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).readResponse();
    const large = () => post(newPlant({ tag: 'x'.repeat(1024 - body.length + 1) }));
    expect(await send(server, large())).to.equal(50302);
    expect(await send(server), 'a small one still fits').to.equal(200);
    expect(outcome(await slow.send(body).readResponse())).to.equal(200);
    expect(await send(server, large()), 'once the memory is released').to.equal(200);
    slow.close();
  });

  it('reserve the body limit for a compressed body', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, bodyLimitBytes: 10_240, maxInFlightBytes: 10_240 });
    const compressed = () =>
      send(server, post(gzipSync(newPlant({ tag: 'x'.repeat(4000) })), { 'Content-Encoding': 'gzip' }));
    const first = compressed();
    await gate.arrived;
    expect(await compressed()).to.equal(50302);
    gate.open();
    expect(await first).to.equal(200);
  });

  it('release their memory when the client disconnects', async () => {
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 1024 });
    const client = await RawClient.connect(server.port);
    await client.send(postHead({ 'Content-Length': '1000', Expect: '100-continue' })).readResponse();
    client.send('x'.repeat(900));
    const other = () => send(server, post(newPlant({ tag: 'x'.repeat(300) })));
    expect(await other()).to.equal(50302);
    client.socket.resetAndDestroy();
    for (let result = 50302; result !== 200; ) result = await other();
  });
});
