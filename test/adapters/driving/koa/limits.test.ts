import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import { AdmissionControl } from '../../../../adapters/driving/http/index.js';
import { chunk, Gate, httpSuite, newPlant, post } from './support.js';

httpSuite('Requests in flight', {}, ({ start }) => {
  it('are rejected beyond the maximum number, once authenticated, until a permit is free', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, maxInFlight: 3 });
    const accepted = Array.from({ length: 3 }, () => server.send());
    await server.waitUntilRead();
    const rejected = await server.exchange();
    expect(rejected).to.include({ outcome: 50302 });
    expect(rejected?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
    expect(await server.send(post(newPlant(), { Authorization: 'Bearer wrong' }))).to.equal(40102);
    gate.open();
    expect(await Promise.all(accepted)).to.deep.equal([200, 200, 200]);
    expect(await server.send()).to.equal(200);
  });

  it('release their permit after a rejection because of their headers or body', async () => {
    const admission = new AdmissionControl({ maxInFlight: 1 });
    const server = await start({ admission, bodyLimitBytes: 1024 });
    for (const [bytes, error] of [
      [post(newPlant(), { 'Content-Type': 'text/plain' }), 41501],
      [post('', { 'Content-Length': '2000' }), 41301],
      [post('x'.repeat(2000), { 'Content-Encoding': 'gzip' }), 40001],
      [post('{}'), 40002],
      [post(newPlant({ name: '\0' })), 40003],
      [post('z\r\n', { 'Transfer-Encoding': 'chunked' }), 40000],
    ] as const) {
      expect(await server.send(bytes)).to.equal(error);
      expect(admission, `after ${error}`).to.include({ inFlight: 0, inFlightBytes: 0 });
    }
  });

  it('release their permit when the client disconnects during authentication', async () => {
    const gate = new Gate();
    const server = await start({ maxInFlight: 1, tokenVerifier: gate.beforeFirstVerify() });
    const client = await server.connect(post('', { 'Content-Length': '100' }));
    await gate.arrived;
    client.socket.resetAndDestroy();
    await server.waitUntilRead();
    gate.open();
    expect(await server.sendWhenFree()).to.equal(200);
  });

  it('are rejected beyond the maximum of bytes, which are reserved before the body arrives', async () => {
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 1024 });
    const body = newPlant({ tag: 'x'.repeat(800) });
    const slow = await server.connect(post('', { 'Content-Length': `${body.length}`, Expect: '100-continue' }));
    await slow.readResponse();
    const large = () => post(newPlant({ tag: 'x'.repeat(1024 - body.length + 1) }));
    expect(await server.send(large())).to.equal(50302);
    expect(await server.send(), 'a small one still fits').to.equal(200);
    expect(await slow.send(body).readResponse()).to.include({ outcome: 200 });
    expect(await server.send(large()), 'once the memory is released').to.equal(200);
    slow.close();
  });

  it('reserve the body limit for a compressed body', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, bodyLimitBytes: 10_240, maxInFlightBytes: 10_240 });
    const body = () => gzipSync(newPlant({ tag: 'x'.repeat(4000) }));
    const first = server.send(post(body(), { 'Content-Encoding': 'gzip' }));
    await gate.arrived;
    expect(await server.send(post(body(), { 'Content-Encoding': 'gzip' }))).to.equal(50302);
    gate.open();
    expect(await first).to.equal(200);
  });
});

const BODY_LIMIT_BYTES = 100_000;
const LARGE_BYTES = 64 * 1024 ** 2;

/** Returns a plant of exactly this many bytes. */
const plantOfSize = (bytes: number) => newPlant({ name: 'x'.repeat(bytes - newPlant({ name: '' }).length) });

// The HTTP contract has further cases, with the default limit.
httpSuite('The body of a request', { bodyLimitBytes: BODY_LIMIT_BYTES }, ({ server, start }) => {
  it('has the configured maximum size, which the rejection names', async () => {
    expect(await server().send(post(plantOfSize(BODY_LIMIT_BYTES)))).to.equal(200);
    const response = await server().exchange(post(plantOfSize(BODY_LIMIT_BYTES + 1)));
    expect(response)
      .to.include({ outcome: 41301 })
      .and.have.property('body')
      .that.includes(`${BODY_LIMIT_BYTES} bytes`);
  });

  it('is rejected before it arrives if its Content-Length exceeds any compressed size of the maximum', async () => {
    const headers = { 'Content-Length': `${2 * BODY_LIMIT_BYTES}`, 'Content-Encoding': 'gzip', Expect: '100-continue' };
    expect(await server().send(post('', headers))).to.equal(41301);
  });

  it('is not read while the client is being authenticated', async () => {
    const gate = new Gate();
    const own = await start({ tokenVerifier: gate.beforeFirstVerify() });
    const client = await own.connect(post('', { 'Content-Length': `${LARGE_BYTES}` }));
    client.send(Buffer.alloc(LARGE_BYTES));
    await gate.arrived;
    for (let times = 0; times < 50; times++) await own.waitUntilRead();
    expect(client.socket.writableLength, 'bytes that the server did not read').to.be.above(LARGE_BYTES / 2);
    gate.open();
    expect(await client.readResponse()).to.include({ outcome: 41301 });
    client.close();
  });

  it('takes little memory if the client sends one byte per chunk', async () => {
    const own = await start({ bodyLimitBytes: 1024 ** 2 });
    const body = Buffer.concat([Buffer.alloc(6 * 400_000, chunk(' ')), chunk(newPlant()), chunk('')]);
    const before = process.resourceUsage().maxRSS;
    expect(await own.send(post(body, { 'Transfer-Encoding': 'chunked' }))).to.equal(200);
    expect((process.resourceUsage().maxRSS - before) / 1024, 'MiB').to.be.below(64);
  });
});
