import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import type { RawClient, RawResponse } from '../../../support/raw-http.js';
import { chunk, Gate, httpSuite, newPlant, post } from './support.js';

const MIB = 1024 ** 2;
const BOMB_MIB = 128;
const LIMIT = 100_000;
const LARGE_BYTES = 64 * MIB;
const GZIP = { 'Content-Encoding': 'gzip' };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };

/** Returns a plant of exactly this many bytes. */
const plantOfSize = (bytes: number) => newPlant({ name: 'x'.repeat(bytes - newPlant({ name: '' }).length) });

/** Sends a chunk again and again until the server responds or has accepted `LARGE_BYTES`. */
async function keepSending(client: RawClient, bytes: Uint8Array): Promise<RawResponse | undefined> {
  const response = client.readResponse();
  const ended = client.ended();
  let isOpen = true;
  ended.then(() => {
    isOpen = false;
  });
  while (isOpen && client.socket.bytesWritten < LARGE_BYTES) {
    client.send(bytes);
    if (client.socket.writableNeedDrain) await Promise.race([once(client.socket, 'drain').catch(() => {}), ended]);
    else await new Promise(setImmediate);
  }
  return response;
}

// The HTTP contract has further cases, with the default limit.
httpSuite('The body of a request', { bodyLimitBytes: LIMIT }, ({ server, start }) => {
  it('has the configured maximum size, which the rejection names', async () => {
    expect(await server().send(post(plantOfSize(LIMIT)))).to.equal(200);
    const response = await server().exchange(post(plantOfSize(LIMIT + 1)));
    expect(response).to.include({ outcome: 41301 }).and.have.property('body').that.includes(`${LIMIT} bytes`);
  });

  it('is rejected before it arrives if its Content-Length is above any compressed size of the maximum', async () => {
    const headers = { 'Content-Length': `${2 * LIMIT}`, ...GZIP, Expect: '100-continue' };
    expect(await server().send(post('', headers))).to.equal(41301);
  });

  for (const [what, head, bytes] of [
    ['spaces, in chunks', post('', CHUNKED), chunk(Buffer.alloc(0x8000, ' '))],
    ['garbage as gzip, in chunks', post('', { ...CHUNKED, ...GZIP }), chunk(Buffer.alloc(0x8000, ' '))],
  ] as const) {
    it(`ends the connection if it is too large: ${what}`, async () => {
      const client = await server().connect(head);
      const response = await keepSending(client, bytes);
      expect(response).to.include({ outcome: 41301 }).and.nested.include({ 'headers.connection': 'close' });
      expect(client.socket.bytesWritten, 'bytes accepted').to.be.below(LARGE_BYTES);
      client.close();
    });
  }

  it('may follow its rejection, and is discarded before the connection is closed', async () => {
    const client = await server().connect(post('', { Authorization: '', 'Content-Length': '200000' }));
    expect(await client.readResponse()).to.include({ outcome: 40101 });
    let isOpen = true;
    const ended = client.ended().then(() => {
      isOpen = false;
    });
    client.send(Buffer.alloc(100_000));
    for (let times = 0; times < 5; times++) await server().waitUntilRead();
    expect(isOpen).to.equal(true);
    client.send(Buffer.alloc(100_000));
    await ended;
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

  it('is decompressed only up to the limit', async () => {
    // Created in small steps, because only more memory than at any time before counts.
    const bomb = await buffer(Readable.from(Array(BOMB_MIB).fill(Buffer.alloc(MIB, ' '))).pipe(createGzip()));
    const before = process.resourceUsage().maxRSS;
    expect(await (await start()).send(post(bomb, GZIP))).to.equal(41301);
    expect((process.resourceUsage().maxRSS - before) / 1024, 'MiB').to.be.below(BOMB_MIB / 2);
  });
});
