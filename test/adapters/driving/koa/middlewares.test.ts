import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Declined } from '@plant-store/adapters/api';
import { createKoaApp } from '@plant-store/adapters/koa';
import {
  type CreatePlantUseCase,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type TokenVerifier,
} from '@plant-store/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { undeclared } from '../../../support/description.js';
import {
  API_OPTIONS,
  createPlant,
  Gate,
  httpServers,
  inChunks,
  type Options,
  post,
  type TestServer,
} from '../../../support/http-server.js';
import { portOf } from '../../../support/port.js';
import { RawClient, request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { waitUntil } from '../../../support/wait-until.js';

const asHttpError = Object.assign(new Error(CANARY), { status: 413, expose: true, headers: { [CANARY]: 'x' } });
const createFails = (failure: unknown): Options => ({ createPlant: { execute: () => Promise.reject(failure) } });
const verifyFails = (failure: unknown): Options => ({ tokenVerifier: { verify: () => Promise.reject(failure) } });
const createRejects = (error: Error): Options => ({
  createPlant: { execute: async () => ({ kind: 'rejected', error }) },
});

describe('A failure', () => {
  const start = httpServers();

  const [defect, thrown] = [new Error(CANARY), { name: CANARY }];
  const [storage, issuer] = [new StorageUnavailable(CANARY), new TokenIssuerUnavailable(CANARY)];
  for (const { title, failure, options, expected } of [
    {
      title: 'of the use case gets 50001, even if it is an HTTP error',
      ...{ failure: asHttpError, options: createFails(asHttpError), expected: 50001 },
    },
    {
      title: 'of the token verifier gets 50001, even if it is an HTTP error',
      ...{ failure: asHttpError, options: verifyFails(asHttpError), expected: 50001 },
    },
    { title: 'that is no Error gets 50001', failure: thrown, options: createFails(thrown), expected: 50001 },
    { title: 'of the storage gets 50301', failure: storage, options: createFails(storage), expected: 50301 },
    { title: 'to store one plant gets 50002', failure: defect, options: createRejects(defect), expected: 50002 },
    { title: 'of the token issuer gets 50304', failure: issuer, options: verifyFails(issuer), expected: 50304 },
  ]) {
    it(title, async () => {
      const { lines, log } = recordLog();
      const server = await start({ ...options, maxInFlight: 1, log });
      const response = await server.exchange();
      expect(response).to.include({ outcome: expected });
      expect(response && undeclared(response)).to.deep.equal([]);
      expect(JSON.stringify(response)).to.not.include(CANARY);
      expect(lines.map(({ message }) => message)).to.deep.equal(['request failed', 'request']);
      expect(lines[0]).to.include({ err: failure });
      const fields = { requestId: response?.headers['x-request-id'], error: expected };
      for (const line of lines) expect(line).to.include(fields);
      expect(await server.send(), 'again').to.equal(expected);
    });
  }
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
    expect(server.inFlight).to.deep.equal({ requests: 1, bytes: 0 });
    expect(await server.send(post('', { Authorization: 'Bearer wrong' }))).to.equal(50302);
    gate.open();
    expect(await first).to.equal(200);
  });

  it('count until their response is sent', async () => {
    const server = await start({ bodyLimitBytes: 32 * 1024 ** 2, maxInFlightBytes: 1024 ** 3 });
    const client = await server.connect();
    client.socket.pause();
    // More than the buffers of the operating system hold.
    const body = newPlant({ name: 'x'.repeat(20_000_000) });
    client.send(post(body));
    await server.waitForFinished(1);
    expect(server.inFlight).to.deep.equal({ requests: 1, bytes: 8 * body.length });
    client.close();
    await waitUntil('the response is lost', async () => server.inFlight.requests === 0);
    expect(server.inFlight.bytes).to.equal(0);
  });

  it('no longer count when a plain server loses pipelined ones', async () => {
    const gate = new Gate();
    const inFlight = { requests: 0, bytes: 0 };
    const server = createServer(createKoaApp({ ...API_OPTIONS, createPlant: gate.createPlant, inFlight }).callback());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = await RawClient.connect(portOf(server));
    client.send(Buffer.concat([post(), post()]));
    await waitUntil('both are in flight', async () => gate.calls === 2);
    client.close();
    await once(server.close(), 'close');
    gate.open();
    await waitUntil('none is in flight', async () => inFlight.requests === 0 && inFlight.bytes === 0);
  });

  /** Retries a create until a permit is free. If none is ever released, the test times out. */
  const createWhenFree = async (server: TestServer): Promise<number | undefined> => {
    const outcome = await server.send();
    return outcome === 50302 ? createWhenFree(server) : outcome;
  };

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

  it('hands the authenticated client to the use case, which may decline a plant with an error of its own', async () => {
    const tokenVerifier: TokenVerifier = { verify: async (subject) => ({ kind: 'valid', principal: { subject } }) };
    const message = 'Too many plants today';
    const error = { error: 42901, message, headers: { 'Retry-After': '3600' } };
    const declining: CreatePlantUseCase<Declined> = {
      execute: async (newPlant, client) =>
        client?.subject === 'gardener' ? createPlant.execute(newPlant, client) : { kind: 'declined', error },
    };
    const server = await start({ tokenVerifier, createPlant: declining });
    expect(await server.send(post(undefined, { Authorization: 'Bearer gardener' }))).to.equal(200);
    const declined = await server.exchange(post(undefined, { Authorization: 'Bearer visitor' }));
    expect(declined).to.include({ status: 429 }).and.have.nested.include({ 'headers.retry-after': '3600' });
    expect(declined?.json()).to.deep.equal({ error: 42901, message });
  });
});
