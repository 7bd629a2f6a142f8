import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
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
import { RawClient } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import { create, createWhenFree, newPlant, postHead, sharedService, startInTest, verdict } from '../support.js';

const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
type Coding = keyof typeof CODINGS;
const MIB = 1024 ** 2;
const BOMB_MIB = 128;

const COMPRESSORS = {
  gzip: createGzip,
  deflate: createDeflate,
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

/** Compresses BOMB_MIB of spaces in constant memory. */
async function makeBomb(coding: Coding): Promise<Buffer> {
  const spaces = Buffer.alloc(MIB, ' ');
  const bytes: Buffer[] = [];
  await pipeline(
    function* () {
      for (let mib = 0; mib < BOMB_MIB; mib++) yield spaces;
    },
    COMPRESSORS[coding](),
    async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) bytes.push(chunk);
    },
  );
  return Buffer.concat(bytes);
}

/** Compressed bodies. */
httpSuite('Content-Encoding', (start) => {
  const service = sharedService(start);
  const startOne = startInTest(start);

  for (const [coding, compress] of Object.entries(CODINGS)) {
    it(`rejects ${coding} followed by garbage in a later packet`, async () => {
      const client = await RawClient.connect(service().port);
      const body = compress(newPlant());
      client.send(postHead({ 'Content-Encoding': coding, 'Transfer-Encoding': 'chunked' }));
      client
        .send(`${body.length.toString(16)}\r\n`)
        .send(body)
        .send('\r\n');
      client.send('7\r\ngarbage\r\n0\r\n\r\n');
      expect(verdict(await client.readResponse())).to.equal(40001);
      client.close();
    });
  }

  for (const coding of ['gzip', 'deflate', 'br'] satisfies Coding[]) {
    it(`stops decompressing a ${coding} bomb at the limit`, async () => {
      const bytes = await makeBomb(coding);
      const before = process.resourceUsage().maxRSS;
      expect(verdict(await create(service(), bytes, { 'Content-Encoding': coding }))).to.equal(41301);
      const grownMib = (process.resourceUsage().maxRSS - before) / 1024;
      expect(grownMib).to.be.below(BOMB_MIB / 2);
    });
  }

  it('rejects an endless gzip stream of empty blocks', async () => {
    const client = await RawClient.connect(service().port);
    client.send(postHead({ 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }));
    const emptyBlocks = Buffer.alloc(65_535, Buffer.from([0, 0, 0, 0xff, 0xff]));
    client.send('a\r\n').send(gzipSync('').subarray(0, 10)).send('\r\n');
    const response = client.readResponse();
    let responded = false;
    response.finally(() => {
      responded = true;
    });
    while (!responded && client.socket.bytesWritten < 10 * MIB) {
      client.send('ffff\r\n').send(emptyBlocks).send('\r\n');
      if (client.socket.writableNeedDrain) await Promise.race([once(client.socket, 'drain'), response]);
      else await new Promise(setImmediate);
    }
    expect(verdict(await response)).to.equal(41301);
    client.close();
  });

  for (const coding of ['identity', 'gzip', 'br'] as const) {
    it(`releases the permit when a client disconnects during a body in ${coding}`, async () => {
      const ownService = await startOne({ MAX_PENDING: '1' });
      const client = await RawClient.connect(ownService.port);
      const body = coding === 'identity' ? Buffer.from(newPlant()) : CODINGS[coding](newPlant());
      client.send(postHead({ 'Content-Encoding': coding, 'Content-Length': `${body.length}`, Expect: '100-continue' }));
      await client.readResponse();
      expect(verdict(await create(ownService)), 'while it is held').to.equal(50302);
      client.send(body.subarray(0, 12));
      client.socket.resetAndDestroy();
      expect(await createWhenFree(ownService)).to.equal(200);
    });
  }
});
