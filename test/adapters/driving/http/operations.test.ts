import { gzipSync } from 'node:zlib';
import { openApiDescription } from '@plant-store/adapters/api';
import { HttpApi } from '@plant-store/adapters/http';
import type { TokenVerifier } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { chunked, newPlant } from '#contract/http/service.js';
import { undeclared } from '../../../support/description.js';
import {
  API_OPTIONS,
  createPlant,
  Gate,
  httpServers,
  post,
  requestOf,
  type TestServer,
} from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';
import { TOKEN } from '../../../support/service.js';

/** Retries a create until a permit is free. If none is ever released, the test times out. */
async function createWhenFree(server: TestServer): Promise<number | undefined> {
  for (;;) {
    const outcome = await server.send();
    if (outcome !== 50302) return outcome;
  }
}

const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

const compressed = (body: string) => post(gzipSync(body), { 'Content-Encoding': 'gzip' });
const inChunks = (body: string) => post(chunked(body), { 'Transfer-Encoding': 'chunked' });

describe('Requests in flight', () => {
  const start = httpServers();

  it('are rejected beyond the maximum number until a permit is free', async () => {
    const gate = new Gate();
    const server = await start({ createPlant: gate.createPlant, maxInFlight: 3 });
    const accepted = Array.from({ length: 3 }, () => server.send());
    await server.waitUntilRead();
    const rejected = await server.exchange();
    expect(rejected).to.include({ outcome: 50302 });
    expect(rejected && undeclared(rejected)).to.deep.equal([]);
    gate.open();
    expect(await Promise.all(accepted)).to.deep.equal([200, 200, 200]);
    expect(await server.send()).to.equal(200);
  });

  it('count from their arrival, before the client is authenticated', async () => {
    const gate = new Gate();
    const server = await start({ maxInFlight: 1, tokenVerifier: gate.tokenVerifier });
    const first = server.send();
    await gate.arrived;
    expect(await server.send(post('', { Authorization: 'Bearer wrong' }))).to.equal(50302);
    gate.open();
    expect(await first).to.equal(200);
  });

  it('release their permit after a rejection because of their headers or body', async () => {
    const server = await start({ bodyLimitBytes: 1024 });
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
  });

  it('release their permit after a malformed body', async () => {
    const server = await start({ maxInFlight: 1 });
    const malformed = await server.connect(post('z\r\n', { 'Transfer-Encoding': 'chunked' }));
    expect(await malformed.readResponse()).to.include({ outcome: 40000 });
    expect(await createWhenFree(server)).to.equal(200);
  });

  it('are rejected beyond the maximum of bytes, which are reserved before the body arrives', async () => {
    const body = newPlant({ tag: 'x'.repeat(800) });
    const small = newPlant({}, '1');
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: body.length + small.length });
    const slow = await server.connect(post('', { 'Content-Length': `${body.length}`, Expect: '100-continue' }));
    await slow.readResponse();
    const larger = post(newPlant({}, '12'));
    expect(await server.send(larger)).to.equal(50302);
    expect(await server.send(post(small, { 'Content-Encoding': 'identity' })), 'what still fits').to.equal(200);
    expect(await slow.send(body).readResponse()).to.include({ outcome: 200 });
    expect(await server.send(larger), 'once the memory is released').to.equal(200);
    slow.close();
  });

  for (const { title, toBytes } of [
    { title: 'reserve the body limit until a compressed body has arrived, then its size', toBytes: compressed },
    { title: 'reserve the body limit until a chunked body has arrived, then its size', toBytes: inChunks },
  ]) {
    it(title, async () => {
      const gate = new Gate();
      const server = await start({ createPlant: gate.createPlant, bodyLimitBytes: 10_240, maxInFlightBytes: 12_288 });
      const [first = '', second = ''] = [4000, 1000].map((length) => newPlant({ tag: 'x'.repeat(length) }));
      const stored = server.send(toBytes(first));
      await gate.arrived;
      expect(server.api.load).to.include({ inFlightBytes: first.length });
      expect(await server.send(toBytes(second))).to.equal(50302);
      gate.open();
      expect(await stored).to.equal(200);
    });
  }

  it('release the permit of a client that disconnects at any point', async () => {
    const server = await start({ maxInFlight: 1 });
    const body = newPlant();
    const requests = [
      post(body),
      inChunks(body),
      compressed(body),
      post(gzipSync(body), { 'Content-Encoding': 'gzip', Expect: '100-continue' }),
      post(body, { Authorization: '' }),
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
        expect(await createWhenFree(server)).to.equal(200);
      }),
      { numRuns: 50 },
    );
  });
});

describe('A create', () => {
  const start = httpServers();

  it('gets its body from the framework if its length is known and it has no encoding', async () => {
    const [create] = new HttpApi(API_OPTIONS).endpoints;
    const readBody = async () => Buffer.from('{"id":1,"name":"of the framework"}');
    for (const [headers, name] of [
      [{ 'content-length': '34' }, 'of the framework'],
      [{ 'content-length': '25', 'content-encoding': 'identity' }, 'own'],
      [{ 'transfer-encoding': 'chunked' }, 'own'],
    ] as const) {
      const request = requestOf({
        method: 'POST',
        url: '/plants',
        headers: { ...AUTHORIZATION, 'content-type': 'application/json', ...headers },
      });
      request.req.push('{"id":1,"name":"own"}');
      request.req.push(null);
      expect(await create?.handle({ ...request, readBody })).to.include({ status: 200, body: `{"name":"${name}"}` });
    }
  });

  it('has the encoding and the expectation of the first of two headers', async () => {
    const server = await start();
    const first = { Expect: '100-continue', 'Content-Encoding': 'identity' };
    const client = await server.connect(post(newPlant(), { ...first, expect: 'x', 'content-encoding': 'gzip' }));
    const outcomes = [await client.readResponse(), await client.readResponse()].map((response) => response?.outcome);
    expect(outcomes).to.deep.equal([100, 200]);
    client.close();
  });

  it('is accepted with an empty Expect and an empty Content-Encoding', async () => {
    const server = await start();
    expect(await server.send(post(newPlant(), { Expect: '', 'Content-Encoding': '' }))).to.equal(200);
  });

  it('of HTTP/1.0 gets no 100 Continue', async () => {
    const server = await start();
    const create = post(undefined, { Expect: '100-continue' }).toString();
    expect(await server.send(create.replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(200);
  });

  it('calls the use case of the authenticated client, which may decline a plant with an error of its own', async () => {
    const tokenVerifier: TokenVerifier = { verify: async (subject) => ({ kind: 'valid', principal: { subject } }) };
    const message = 'Too many plants today';
    const error = { error: 42901, message, headers: { 'Retry-After': '3600' } };
    const declining = { execute: async () => ({ kind: 'declined', error }) as const };
    const server = await start({
      tokenVerifier,
      createPlant: ({ subject }) => (subject === 'gardener' ? createPlant : declining),
    });
    expect(await server.send(post(undefined, { Authorization: 'Bearer gardener' }))).to.equal(200);
    const declined = await server.exchange(post(undefined, { Authorization: 'Bearer visitor' }));
    expect(declined).to.include({ status: 429 }).and.have.nested.include({ 'headers.retry-after': '3600' });
    expect(declined?.json()).to.deep.equal({ error: 42901, message });
  });
});

describe('An operation', () => {
  const describing = (method: string, operationId: string) =>
    new HttpApi({
      ...API_OPTIONS,
      description: { ...openApiDescription, paths: { '/plants': { [method]: { operationId } } } },
    });

  it('gets no body if the description declares none', async () => {
    const [endpoint] = describing('get', 'createPlant').endpoints;
    const reply = await endpoint?.handle(requestOf({ method: 'GET', url: '/plants', headers: AUTHORIZATION }));
    expect(reply?.body).to.include('The input is empty');
  });

  it('cannot be described without a handler', () => {
    expect(() => describing('put', 'waterPlant')).to.throw('no handler for the operation waterPlant');
  });
});
