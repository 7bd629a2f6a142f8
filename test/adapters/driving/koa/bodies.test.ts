import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import { exchange, RawClient, type RawResponse } from '../../../support/raw-http.js';
import {
  Gate,
  HEADERS,
  httpSuite,
  newPlant,
  outcome,
  post,
  postHead,
  send,
  sendWhenFree,
  sharedServer,
  startInTest,
  waitUntilRead,
} from './support.js';

const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const MIB = 1024 ** 2;
const BOMB_MIB = 128;
const COMPRESSORS = {
  gzip: createGzip,
  deflate: createDeflate,
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const LIMIT = 100_000;
const LARGE_BYTES = 64 * MIB;

/** Returns a plant of exactly this many bytes. */
const plantOfSize = (bytes: number) => newPlant({ name: 'x'.repeat(bytes - newPlant({ name: '' }).length) });
const chunked = (headers = {}) => postHead({ 'Transfer-Encoding': 'chunked', ...headers });
const chunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

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

httpSuite('The body of a request', () => {
  const server = sharedServer({ bodyLimitBytes: LIMIT });
  const start = startInTest();

  it('has a maximum size, after decompression if it is compressed', async () => {
    const gzip = { 'Content-Encoding': 'gzip' };
    for (const [bytes, expected] of [
      [LIMIT, 200],
      [LIMIT + 1, 41301],
    ] as const) {
      expect(await send(server(), post(plantOfSize(bytes)))).to.equal(expected);
      expect(await send(server(), post(gzipSync(plantOfSize(bytes)), gzip))).to.equal(expected);
    }
    expect((await exchange(server().port, post(plantOfSize(LIMIT + 1))))?.body).to.include(`${LIMIT} bytes`);
  });

  for (const [length, headers] of [
    [`${LIMIT + 1}`, {}],
    ['18446744073709551615', {}],
    ['1099511627776', { 'Content-Encoding': 'gzip', Expect: '100-continue' }],
  ] as const) {
    it(`is rejected before it arrives if its Content-Length is ${length}`, async () => {
      expect(await send(server(), postHead({ 'Content-Length': length, ...headers }))).to.equal(41301);
    });
  }

  for (const [what, head, bytes] of [
    ['that its Content-Length announces', postHead({ 'Content-Length': `${LARGE_BYTES}` }), Buffer.alloc(65_536, ' ')],
    ['in chunks', chunked(), chunk(Buffer.alloc(0x8000, ' '))],
    ['of garbage as gzip, in chunks', chunked({ 'Content-Encoding': 'gzip' }), chunk(Buffer.alloc(0x8000, ' '))],
  ] as const) {
    it(`ends the connection if it is too large: one ${what}`, async () => {
      const client = await RawClient.connect(server().port);
      const response = await keepSending(client.send(head), bytes);
      expect(outcome(response)).to.equal(41301);
      expect(response?.headers).to.include({ connection: 'close' });
      expect(client.socket.bytesWritten, 'bytes accepted').to.be.below(LARGE_BYTES);
      client.close();
    });
  }

  it('may follow its rejection: the client can still read the response', async () => {
    const client = await RawClient.connect(server().port);
    client.socket.pause();
    client.send(post('', { Authorization: '', 'Content-Length': '200000' }));
    // A client whose connection was reset notices that when it writes again, and discards what it has not read.
    for (let times = 0; times < 2; times++) {
      await waitUntilRead(server());
      client.send(Buffer.alloc(100_000));
    }
    await waitUntilRead(server());
    client.socket.resume();
    expect(outcome(await client.readResponse())).to.equal(40101);
    client.close();
  });

  it('is not read while the client is being authenticated', async () => {
    const gate = new Gate();
    const own = await start({ tokenVerifier: gate.beforeFirstVerify() });
    const client = await RawClient.connect(own.port);
    client.send(postHead({ 'Content-Length': `${LARGE_BYTES}` })).send(Buffer.alloc(LARGE_BYTES));
    await gate.arrived;
    for (let times = 0; times < 50; times++) await waitUntilRead(own);
    expect(client.socket.writableLength, 'bytes that the server did not read').to.be.above(LARGE_BYTES / 2);
    gate.open();
    expect(outcome(await client.readResponse())).to.equal(41301);
    client.close();
  });

  it('is rejected if it is an endless gzip stream of empty blocks', async () => {
    const client = await RawClient.connect(server().port);
    client.send(chunked({ 'Content-Encoding': 'gzip' })).send(chunk(gzipSync('').subarray(0, 10)));
    const emptyBlocks = Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff]));
    expect(outcome(await keepSending(client, chunk(emptyBlocks)))).to.equal(41301);
    client.close();
  });

  for (const [coding, compress] of Object.entries(CODINGS)) {
    it(`is rejected if garbage follows ${coding} in a later packet`, async () => {
      const client = await RawClient.connect(server().port);
      client.send(chunked({ 'Content-Encoding': coding })).send(chunk(compress(newPlant())));
      client.send(chunk(Buffer.from('garbage'))).send('0\r\n\r\n');
      expect(outcome(await client.readResponse())).to.equal(40001);
      client.close();
    });
  }

  for (const [coding, createCompressor] of Object.entries(COMPRESSORS)) {
    it(`is decompressed only up to the limit: a bomb in ${coding}`, async () => {
      const spaces = Array.from({ length: BOMB_MIB }, () => Buffer.alloc(MIB, ' '));
      const bomb = await buffer(Readable.from(spaces).pipe(createCompressor()));
      const before = process.resourceUsage().maxRSS;
      expect(await send(await start(), post(bomb, { 'Content-Encoding': coding }))).to.equal(41301);
      expect((process.resourceUsage().maxRSS - before) / 1024, 'MiB').to.be.below(BOMB_MIB / 2);
    });
  }

  for (const [coding, compress] of [['identity', Buffer.from] as const, ...Object.entries(CODINGS)]) {
    it(`frees its permit when the client disconnects in the middle of it: ${coding}`, async () => {
      const own = await start({ maxInFlight: 1 });
      const client = await RawClient.connect(own.port);
      const body = compress(newPlant());
      const headers = { 'Content-Encoding': coding, 'Content-Length': `${body.length}`, Expect: '100-continue' };
      await client.send(postHead(headers)).readResponse();
      expect(await send(own), 'while it is held').to.equal(50302);
      client.send(body.subarray(0, 12));
      client.socket.resetAndDestroy();
      expect(await sendWhenFree(own)).to.equal(200);
    });
  }

  for (const [headers, expected] of [
    [{ Authorization: '' }, 40101],
    [{ Authorization: 'Bearer wrong' }, 40102],
    [{ Expect: 'x' }, 41701],
    [{ 'Content-Type': 'text/plain' }, 41501],
    [{ 'Content-Encoding': 'zstd' }, 41501],
  ] as const) {
    it(`does not end the connection if it arrived with rejected headers: ${Object.keys(headers)} ${expected}`, async () => {
      const client = await RawClient.connect(server().port);
      const rejected = post(newPlant({ tag: 'x'.repeat(1000) }), { ...HEADERS, ...headers });
      expect(outcome(await client.send(rejected).readResponse())).to.equal(expected);
      expect(outcome(await client.send(post()).readResponse())).to.equal(200);
      client.close();
    });
  }
});
