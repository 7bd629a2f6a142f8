import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { it } from 'mocha';
import { request } from '../../../support/raw-http.js';
import { chunk, Gate, httpSuite, newPlant, post } from './support.js';

httpSuite('Requests in flight', {}, ({ start }) => {
  it('are rejected beyond the maximum number until a permit is free', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, maxInFlight: 3 });
    const accepted = Array.from({ length: 3 }, () => server.send());
    await server.waitUntilRead();
    const rejected = await server.exchange();
    expect(rejected).to.include({ outcome: 50302 });
    expect(rejected?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
    gate.open();
    expect(await Promise.all(accepted)).to.deep.equal([200, 200, 200]);
    expect(await server.send()).to.equal(200);
  });

  it('count from their arrival, before the client is authenticated', async () => {
    const gate = new Gate();
    const server = await start({ maxInFlight: 1, tokenVerifier: gate.beforeFirstVerify() });
    const first = server.send();
    await gate.arrived;
    expect(await server.send(post('', { Authorization: 'Bearer wrong' }))).to.equal(50302);
    gate.open();
    expect(await first).to.equal(200);
  });

  it('release their permit after a rejection because of their headers or body', async () => {
    const server = await start({ maxInFlight: 1, bodyLimitBytes: 1024 });
    for (const [bytes, error] of [
      [post(newPlant(), { Authorization: '' }), 40101],
      [post(newPlant(), { 'Content-Type': 'text/plain' }), 41501],
      [post('', { 'Content-Length': '2000' }), 41301],
      [post('x'.repeat(1000), { 'Content-Encoding': 'gzip' }), 40001],
      [post('{}'), 40002],
      [post(newPlant({ name: '\0' })), 40003],
    ] as const) {
      expect(await server.send(bytes)).to.equal(error);
      expect(server.api.load, `after ${error}`).to.include({ inFlight: 0, inFlightBytes: 0 });
    }
    const malformed = await server.connect(post('z\r\n', { 'Transfer-Encoding': 'chunked' }));
    expect(await malformed.readResponse()).to.include({ outcome: 40000 });
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

  for (const [what, toBytes] of [
    ['compressed', (body: string) => post(gzipSync(body), { 'Content-Encoding': 'gzip' })],
    ['chunked', (body: string) => post(Buffer.concat([chunk(body), chunk('')]), { 'Transfer-Encoding': 'chunked' })],
  ] as const) {
    it(`reserve the body limit until a ${what} body has arrived, then its size`, async () => {
      const gate = new Gate();
      const server = await start({ createPlant: gate.createPlant, bodyLimitBytes: 10_240, maxInFlightBytes: 12_288 });
      const [first, second] = [4000, 1000].map((length) => toBytes(newPlant({ tag: 'x'.repeat(length) })));
      const stored = server.send(first);
      await gate.arrived;
      expect(await server.send(second)).to.equal(50302);
      const small = server.send(post(newPlant({ tag: 'x'.repeat(8000) })));
      await server.waitUntilRead();
      gate.open();
      expect(await Promise.all([stored, small])).to.deep.equal([200, 200]);
    });
  }

  it('release the permit of a client that disconnects at any point', async () => {
    const server = await start({ maxInFlight: 1 });
    const body = newPlant();
    const requests = [
      post(body),
      post(Buffer.concat([chunk(body), chunk('')]), { 'Transfer-Encoding': 'chunked' }),
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
          const client = await server.connect(bytes.subarray(0, Math.ceil((bytes.length * sentPercent) / 100)));
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          client.socket[way]();
        }
        expect(await server.sendWhenFree()).to.equal(200);
      }),
      { numRuns: 50 },
    );
  });
});

// The HTTP contract has further cases, with the default limit.
httpSuite('The body of a request', { bodyLimitBytes: 100_000 }, ({ server }) => {
  it('has the configured maximum size, which the rejection names', async () => {
    const response = await server().exchange(post(' '.repeat(100_001)));
    expect(response).to.include({ outcome: 41301 }).and.have.property('body').that.includes('100000 bytes');
  });

  it('is as the first of two Expect and Content-Encoding headers says', async () => {
    const first = { Expect: '100-continue', 'Content-Encoding': 'identity' };
    const client = await server().connect(post(newPlant(), { ...first, expect: 'x', 'content-encoding': 'gzip' }));
    expect([await client.readResponse(), await client.readResponse()].map((each) => each?.outcome)).to.deep.equal([
      100, 200,
    ]);
  });

  it('is not expected to continue if the first of two Expect headers is empty', async () => {
    expect(await server().send(post(newPlant(), { Expect: '', expect: 'x' }))).to.equal(200);
  });

  it('creates one plant, however it is split into chunks', async () => {
    const name = 'é漢🌱'.repeat(100);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 1000 })), async (cuts) => {
        const body = Buffer.from(newPlant({ name }));
        const ends = [...cuts.filter((cut) => cut < body.length).sort((a, b) => a - b), body.length];
        const pieces = ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end));
        const chunks = Buffer.concat([...pieces.filter(({ length }) => length > 0), Buffer.alloc(0)].map(chunk));
        const response = await server().exchange(post(chunks, { 'Transfer-Encoding': 'chunked' }));
        expect(response?.body).to.equal(JSON.stringify({ name }));
      }),
      { numRuns: 50 },
    );
  });
});
