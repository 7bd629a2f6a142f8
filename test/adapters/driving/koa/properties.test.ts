import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { it } from 'mocha';
import { RawClient, request } from '../../../support/raw-http.js';
import { chunk, httpSuite, newPlant, post, readOutcomes } from './support.js';

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Splits the bytes at these positions. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).toSorted((a, b) => a - b);
  return [0, ...ends].map((begin, index) => bytes.subarray(begin, ends[index] ?? bytes.length));
}

/** Properties that hold for arbitrary packets and clients. */
httpSuite('Arbitrary packets', {}, ({ server, start }) => {
  it('release the permit of a client that disconnects at any point', async () => {
    const own = await start({ maxInFlight: 1 });
    const body = newPlant();
    const requests = [
      post(body),
      post(Buffer.concat([chunk(body), LAST_CHUNK]), CHUNKED),
      post(gzipSync(body), { 'Content-Encoding': 'gzip' }),
      post(brotliCompressSync(body), { 'Content-Encoding': 'br', Expect: '100-continue' }),
      post(body, { Authorization: '' }),
      post(body, { Expect: 'x' }),
      request('CONNECT test:443'),
      Buffer.from('garbage\r\n\r\n'),
    ];
    const steps = fc.record({
      bytes: fc.constantFrom(...requests),
      // Often above 100, for a complete request.
      sentPercent: fc.nat({ max: 120 }),
      way: fc.constantFrom('end', 'destroy', 'resetAndDestroy'),
      turns: fc.nat({ max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 5 }), async (clients) => {
        for (const { bytes, sentPercent, way, turns } of clients) {
          const client = await own.connect(bytes.subarray(0, Math.ceil((bytes.length * sentPercent) / 100)));
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          client.socket[way]();
        }
        expect(await own.sendWhenFree()).to.equal(200);
      }),
      { numRuns: 50 },
    );
  });

  it('get a response to each of up to 16 pipelined requests, in order, even if the client reads late', async () => {
    const own = await start({ docs: true });
    const creates = [50, 5000, 70_000].map((length) => [post(newPlant({ name: 'x'.repeat(length) })), 200] as const);
    const others = [
      [request('GET /docs/swagger-ui-bundle.js'), 200],
      [request('GET /nothing'), 40401],
      // Rejected before its body has been parsed.
      [request('POST *', {}, '{}'), 40401],
      [post('{}'), 40002],
    ] as const;
    const requests = fc.array(fc.constantFrom(...creates, ...others), { maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(requests, fc.boolean(), async (sent, isLate) => {
        const client = await RawClient.connect(own.port);
        if (isLate) client.socket.pause();
        client.send(Buffer.concat([...sent.map(([bytes]) => bytes), post('', { Connection: 'close' })]));
        if (isLate) await own.waitUntilRead();
        client.socket.resume();
        expect(await readOutcomes(client)).to.deep.equal([...sent.map(([, outcome]) => outcome), 40001]);
      }),
      { numRuns: 30 },
    );
  });

  const cuts = fc.array(fc.nat({ max: 1000 }), { maxLength: 20 });

  it('create one plant from a body, however it is split into chunks and packets', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, cuts, async (chunkCuts, packetCuts) => {
        const name = 'é漢🌱'.repeat(100);
        const chunks = pieces(Buffer.from(newPlant({ name })), chunkCuts).map(chunk);
        const client = await server().connect();
        for (const packet of pieces(post(Buffer.concat([...chunks, LAST_CHUNK]), CHUNKED), packetCuts)) {
          client.send(packet);
          await new Promise(setImmediate);
        }
        expect((await client.readResponse())?.body).to.equal(JSON.stringify({ name }));
        client.close();
      }),
      { numRuns: 50 },
    );
  });
});
