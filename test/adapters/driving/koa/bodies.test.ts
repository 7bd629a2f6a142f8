import { expect } from 'chai';
import { it } from 'mocha';
import { chunk, Gate, httpSuite, newPlant, post } from './support.js';

const LIMIT = 100_000;
const LARGE_BYTES = 64 * 1024 ** 2;

/** Returns a plant of exactly this many bytes. */
const plantOfSize = (bytes: number) => newPlant({ name: 'x'.repeat(bytes - newPlant({ name: '' }).length) });

// The HTTP contract has further cases, with the default limit.
httpSuite('The body of a request', { bodyLimitBytes: LIMIT }, ({ server, start }) => {
  it('has the configured maximum size, which the rejection names', async () => {
    expect(await server().send(post(plantOfSize(LIMIT)))).to.equal(200);
    const response = await server().exchange(post(plantOfSize(LIMIT + 1)));
    expect(response).to.include({ outcome: 41301 }).and.have.property('body').that.includes(`${LIMIT} bytes`);
  });

  it('is rejected before it arrives if its Content-Length is above any compressed size of the maximum', async () => {
    const headers = { 'Content-Length': `${2 * LIMIT}`, 'Content-Encoding': 'gzip', Expect: '100-continue' };
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
