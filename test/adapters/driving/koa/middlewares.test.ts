import type { TokenVerifier } from '@plant-store/core';
import { StorageUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { undeclared } from '../../../support/description.js';
import {
  createPlant,
  Gate,
  httpServers,
  inChunks,
  type Options,
  post,
  type TestServer,
} from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';

const cause = new Error(CANARY);
const failing = (error: Error): Options => ({ createPlant: { execute: () => Promise.reject(error) } });

/** Retries a create until a permit is free. If none is ever released, the test times out. */
async function createWhenFree(server: TestServer): Promise<number | undefined> {
  for (;;) {
    const outcome = await server.send();
    if (outcome !== 50302) return outcome;
  }
}

describe('A failure', () => {
  const start = httpServers();

  for (const { title, expected, options } of [
    {
      title: 'of the use case gets 50001, whatever members of HTTP errors it has',
      expected: 50001,
      options: failing(
        Object.assign(new Error(CANARY), { status: 413, statusCode: 413, expose: true, headers: { [CANARY]: 'x' } }),
      ),
    },
    {
      title: 'of the token verifier gets 50001, whatever members of HTTP errors it has',
      expected: 50001,
      options: { tokenVerifier: { verify: () => Promise.reject(Object.assign(new Error(CANARY), { status: 401 })) } },
    },
    {
      title: 'of the storage gets 50301',
      expected: 50301,
      options: failing(new StorageUnavailable(CANARY, { cause })),
    },
    {
      title: 'to store one plant gets 50002',
      expected: 50002,
      options: { createPlant: { execute: async () => ({ kind: 'rejected', error: cause }) as const } },
    },
    {
      title: 'of the token issuer gets 50304',
      expected: 50304,
      options: { tokenVerifier: { verify: () => Promise.reject(new TokenIssuerUnavailable(CANARY)) } },
    },
  ]) {
    it(title, async () => {
      const { lines, log } = recordLog();
      const server = await start({ ...options, maxInFlight: 1, log });
      const response = await server.exchange();
      expect(response).to.include({ outcome: expected });
      expect(response && undeclared(response)).to.deep.equal([]);
      expect(JSON.stringify(response)).to.not.include(CANARY);
      expect(lines.map(({ message }) => message)).to.deep.equal(['request failed', 'request']);
      expect(lines[0]).to.have.property('err').that.is.an('error');
      const fields = { requestId: response?.headers['x-request-id'], error: expected };
      for (const line of lines) expect(line).to.include(fields);
      expect(await server.send(), 'again').to.equal(expected);
    });
  }
});

describe('A failure that is no Error', () => {
  const start = httpServers();

  it('gets 50001, and is logged as it is', async () => {
    const { lines, log } = recordLog();
    const failure = { name: CANARY };
    const server = await start({ log, createPlant: { execute: () => Promise.reject(failure) } });
    expect(await server.send()).to.equal(50001);
    expect(lines[0]).to.include({ err: failure, error: 50001 });
  });
});

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

  it('count from their arrival, and reserve memory only once the client is authenticated', async () => {
    const gate = new Gate();
    const server = await start({ maxInFlight: 1, tokenVerifier: gate.tokenVerifier });
    const first = server.send();
    await gate.arrived;
    expect(server.load).to.deep.equal({ inFlight: 1, inFlightBytes: 0 });
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
      [inChunks('x'.repeat(2000)), 41301],
      [post('{}'), 40002],
      [post(newPlant({ name: '\0' })), 40003],
    ] as const) {
      expect(await server.send(bytes)).to.equal(error);
      expect(server.load, `after ${error}`).to.deep.equal({ inFlight: 0, inFlightBytes: 0 });
    }
  });

  it('release their permit after a malformed body', async () => {
    const server = await start({ maxInFlight: 1 });
    const malformed = await server.connect(post('z\r\n', { 'Transfer-Encoding': 'chunked' }));
    expect(await malformed.readResponse()).to.include({ outcome: 40000 });
    expect(await createWhenFree(server)).to.equal(200);
  });

  it('release the permit of a client that disconnects at any point', async () => {
    const server = await start({ maxInFlight: 1 });
    const body = newPlant();
    const requests = [
      post(body),
      inChunks(body),
      post(body, { Expect: '100-continue' }),
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

  it('is accepted with an empty Expect and an empty Content-Encoding', async () => {
    const server = await start();
    expect(await server.send(post(newPlant(), { Expect: '', 'Content-Encoding': '' }))).to.equal(200);
  });

  it('calls the use case of the authenticated client, which may decline a plant with an error of its own', async () => {
    const tokenVerifier: TokenVerifier = { verify: async (subject) => ({ kind: 'valid', principal: { subject } }) };
    const message = 'Too many plants today';
    const error = { error: 42901, message, headers: { 'Retry-After': '3600' } };
    const declining = { execute: async () => ({ kind: 'declined', error }) as const };
    const server = await start({
      tokenVerifier,
      createPlant: async ({ subject }) => (subject === 'gardener' ? createPlant : declining),
    });
    expect(await server.send(post(undefined, { Authorization: 'Bearer gardener' }))).to.equal(200);
    const declined = await server.exchange(post(undefined, { Authorization: 'Bearer visitor' }));
    expect(declined).to.include({ status: 429 }).and.have.nested.include({ 'headers.retry-after': '3600' });
    expect(declined?.json()).to.deep.equal({ error: 42901, message });
  });
});
