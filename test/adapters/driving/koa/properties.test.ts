import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { newPlant as arbitraryNewPlant, storableText } from '../../../support/texts.js';
import { httpSuite, newPlant, outcome, post, sendWhenFree, sharedServer, startInTest } from './support.js';

/** Properties that hold for arbitrary input. */
httpSuite('Arbitrary input', () => {
  const server = sharedServer();
  const start = startInTest();

  it('responds to any bytes without an internal error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.constantFrom('identity', 'gzip', 'deflate', 'br'), async (body, coding) => {
        const response = await exchange(server().port, post(body, { 'Content-Encoding': coding }));
        expect(outcome(response)).to.be.oneOf([40001, 40002]);
      }),
      { numRuns: 100 },
    );
  });

  it('reaches the use case exactly, whatever the plant', async () => {
    const text = storableText({ maxLength: 30 });
    const plant = arbitraryNewPlant(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), text);
    await fc.assert(
      fc.asyncProperty(plant, async ({ id, ...texts }) => {
        const response = await exchange(server().port, post(`{"id":${id},${JSON.stringify(texts).slice(1)}`));
        expect(response).to.include({ status: 200, body: JSON.stringify(texts) });
        expect(server().created.at(-1)).to.deep.equal({ id, ...texts });
      }),
      { numRuns: 100 },
    );
  });

  it('releases the permit of a client that disconnects at any point', async () => {
    const own = await start({ maxInFlight: 1 });
    const body = newPlant();
    const requests = [
      post(body),
      post(Buffer.concat([chunk(Buffer.from(body)), LAST_CHUNK]), CHUNKED),
      post(gzipSync(body), { 'Content-Encoding': 'gzip' }),
      post(brotliCompressSync(body), { 'Content-Encoding': 'br', Expect: '100-continue' }),
      post(body, { Authorization: '' }),
      post(body, { Expect: 'x' }),
      request('CONNECT test:443'),
      Buffer.from('garbage\r\n\r\n'),
    ];
    const ways = ['end', 'destroy', 'resetAndDestroy'] as const;
    const steps = fc.record({
      bytes: fc.constantFrom(...requests),
      // Often above 100, for a complete request.
      sentPercent: fc.nat({ max: 120 }),
      way: fc.constantFrom(...ways),
      turns: fc.nat({ max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 5 }), async (clients) => {
        for (const { bytes, sentPercent, way, turns } of clients) {
          const client = await RawClient.connect(own.port);
          client.send(bytes.subarray(0, Math.ceil((bytes.length * sentPercent) / 100)));
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          client.socket[way]();
        }
        expect(await sendWhenFree(own)).to.equal(200);
      }),
      { numRuns: 50 },
    );
  });

  const cuts = fc.array(fc.nat({ max: 1000 }), { maxLength: 20 });
  /** Sends the bytes in several packets. */
  const sendInPackets = async (client: RawClient, bytes: Buffer, packetCuts: readonly number[]) => {
    client.socket.setNoDelay(true);
    for (const packet of pieces(bytes, packetCuts)) {
      client.send(packet);
      await new Promise(setImmediate);
    }
  };

  it('creates one plant from a body, however it is split into chunks and packets', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, cuts, async (chunkCuts, packetCuts) => {
        const name = 'é漢🌱'.repeat(100);
        const chunks = pieces(Buffer.from(newPlant({ name })), chunkCuts).map(chunk);
        const client = await RawClient.connect(server().port);
        await sendInPackets(client, post(Buffer.concat([...chunks, LAST_CHUNK]), CHUNKED), packetCuts);
        expect((await client.readResponse())?.body).to.equal(JSON.stringify({ name }));
        client.close();
      }),
      { numRuns: 50 },
    );
  });

  it('responds to pipelined requests in order, however they are split into packets', async () => {
    // None of these closes the connection.
    const kinds: [outcome: number, bytes: () => Buffer][] = [
      [200, () => post()],
      [200, () => post(gzipSync(newPlant()), { 'Content-Encoding': 'gzip' })],
      [200, () => post(Buffer.concat([chunk(Buffer.from(newPlant())), LAST_CHUNK]), CHUNKED)],
      [40001, () => post('{')],
      [40001, () => post('')],
      [40002, () => post('{}')],
      [40101, () => request('POST /plants')],
      [40401, () => request('POST /nothing')],
      [40501, () => request('GET /plants')],
      [41501, () => post('', { 'Content-Type': 'text/plain' })],
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 10 }), cuts, async (sent, at) => {
        const client = await RawClient.connect(server().port);
        await sendInPackets(client, Buffer.concat(sent.map(([, bytes]) => bytes())), at);
        const outcomes: number[] = [];
        for (const _ of sent) outcomes.push(outcome(await client.readResponse()));
        expect(outcomes).to.deep.equal(sent.map(([expected]) => expected));
        client.close();
      }),
      { numRuns: 50 },
    );
  });
});

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Splits the bytes at these positions. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).toSorted((a, b) => a - b);
  return [0, ...ends].map((begin, index) => bytes.subarray(begin, ends[index] ?? bytes.length));
}
