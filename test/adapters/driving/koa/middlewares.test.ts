import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Declined } from '@plant-store/adapters/api';
import { addRoutes, createBaseApp, createKoaApp } from '@plant-store/adapters/koa';
import {
  type CreatePlantUseCase,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type TokenVerifier,
} from '@plant-store/core';
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { undeclared } from '../../../support/description.js';
import * as support from '../../../support/http-server.js';
import { portOf } from '../../../support/port.js';
import { RawClient, request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { waitUntil } from '../../../support/wait-until.js';

const { createPlant, inChunks, post, tokenVerifier } = support;

// A hook fails the run if a response contains the canary.
describe('A failure', () => {
  const start = support.httpServers();
  const [defect, noError] = [new Error(CANARY), { name: CANARY }];
  const httpError = Object.assign(new Error(CANARY), { status: 413, expose: true, headers: { [CANARY]: 'x' } });
  const [storage, issuer] = [new StorageUnavailable(CANARY), new TokenIssuerUnavailable(CANARY)];
  const createFails = (failure: unknown) => ({ createPlant: { execute: () => Promise.reject(failure) } });
  const verifyFails = (failure: unknown) => ({ tokenVerifier: { verify: () => Promise.reject(failure) } });
  const createRejects = (error: Error) => ({
    createPlant: { execute: async () => ({ kind: 'rejected', error }) as const },
  });

  for (const [title, failure, fail, error] of [
    ['of the use case gets 50001, even if it is an HTTP error', httpError, createFails, 50001],
    ['of the token verifier gets 50001, even if it is an HTTP error', httpError, verifyFails, 50001],
    ['that is no Error gets 50001', noError, createFails, 50001],
    ['of the storage gets 50301', storage, createFails, 50301],
    ['to store one plant gets 50002', defect, createRejects, 50002],
    ['of the token issuer gets 50304', issuer, verifyFails, 50304],
  ] as const) {
    it(title, async () => {
      const { lines, log } = recordLog();
      const server = await start({ ...fail(Object(failure)), maxInFlight: 1, log });
      const response = await server.exchange();
      expect(response).to.include({ outcome: error });
      expect(response && undeclared(response)).to.deep.equal([]);
      expect(lines).to.have.lengthOf(2);
      const requestId = response?.headers['x-request-id'];
      expect(lines[0]).to.include({ message: 'request failed', requestId, error, err: failure });
      expect(lines[1]).to.include({ message: 'request', requestId, error });
      expect(await server.send(), 'again').to.equal(error);
    });
  }
});

describe('A middleware of a user', () => {
  const start = support.httpServers();
  const { lines, log } = recordLog();
  /** Starts a server with a middleware, and returns its response to a request. */
  const run = async (middleware: Middleware) => {
    lines.length = 0;
    const server = await start({ log }, (options) => {
      const app = createBaseApp(options).use(middleware);
      app.on('error', (err) => lines.push({ message: 'emitted', err }));
      return addRoutes(app, options).callback();
    });
    return server.exchange();
  };
  const throwing = (members: object) => () => {
    throw Object.assign(new Error(CANARY), members);
  };
  const unsendable: Middleware = (ctx) => Object.assign(ctx, { body: { id: 1n } });
  const begun: Middleware = (ctx) => {
    ctx.res.write('part');
    throw new Error(CANARY);
  };

  it('may throw an HTTP error, whose message and headers the client gets', async () => {
    const headers = { 'Retry-After': '9' };
    const response = await run((ctx) => ctx.throw(429, 'Too many plants', { headers }));
    expect(response).to.nested.include({ status: 429, 'headers.retry-after': '9' });
    expect(response?.json()).to.deep.equal({ error: 42900, message: 'Too many plants' });
    expect(lines.map(({ message }) => message)).to.deep.equal(['request']);
  });

  for (const [title, middleware, outcome, ...messages] of [
    [
      'may throw an HTTP error with a message for the log',
      throwing({ status: 402 }),
      40200,
      'emitted',
      'request failed',
    ],
    ['that fails gets 50001', throwing({}), 50001, 'emitted', 'request failed'],
    ['that throws the status of a success gets 50001', throwing({ status: 200 }), 50001, 'emitted', 'request failed'],
    ['whose body Koa cannot send gets 500', unsendable, 500, 'the response cannot be sent', 'emitted'],
    ['that fails after its response has begun ends the connection', begun, undefined, 'emitted', 'request failed'],
  ] as const) {
    it(title, async () => {
      expect((await run(middleware))?.outcome).to.equal(outcome);
      const failures = lines.filter(({ message }) => message !== 'request');
      expect(failures.map(({ message }) => message)).to.deep.equal(messages);
      for (const { err } of failures) expect(err).to.be.an('error');
    });
  }
});

describe('The target of a request', () => {
  const start = support.httpServers();

  it('may have a scheme, a host and a fragment, which are ignored, but no second slash', async () => {
    const server = await start();
    for (const [target, outcome] of [
      ['/plants#x', 200],
      ['http://%@h/plants?x#y', 200],
      ['//%@h/plants#x', 40401],
      ['http://h', 40401],
    ] as const)
      expect(await server.send(request(`POST ${target}`, CREATE_HEADERS, newPlant())), target).to.equal(outcome);
  });
});

describe('Requests in flight', () => {
  const start = support.httpServers();

  it('count from their arrival up to the maximum number, and reserve memory once the client is authenticated', async () => {
    const gate = new support.Gate();
    const server = await start({ maxInFlight: 2, tokenVerifier: { verify: gate.block(tokenVerifier.verify) } });
    const accepted = [await server.connect(post()), await server.connect(post())];
    expect(server.inFlight).to.deep.equal({ requests: 2, bytes: 0 });
    const rejected = await server.exchange(post('', { Authorization: 'Bearer wrong' }));
    expect(rejected).to.include({ outcome: 50302 });
    expect(rejected && undeclared(rejected)).to.deep.equal([]);
    gate.open();
    for (const client of accepted) expect(await client.readResponse()).to.include({ outcome: 200 });
    expect(await server.send()).to.equal(200);
  });

  it('count until their response is sent or lost', async () => {
    const server = await start({ bodyLimitBytes: 16 * 1024 ** 2, maxInFlightBytes: 1024 ** 3 });
    const client = await server.connect();
    client.socket.pause();
    // More than the buffers of the operating system hold.
    const body = newPlant({ name: 'x'.repeat(12_000_000) });
    client.send(post(body));
    await waitUntil('the response is being sent', async () => server.finished.length > 1);
    expect(server.finished.at(-1)).to.include({ status: 200 });
    expect(server.inFlight).to.deep.equal({ requests: 1, bytes: 8 * body.length });
    client.close();
    await waitUntil('the response is lost', async () => server.inFlight.requests === 0);
    expect(server.inFlight.bytes).to.equal(0);
  });

  it('no longer count when a plain server loses pipelined ones', async () => {
    const gate = new support.Gate();
    const inFlight = { requests: 0, bytes: 0 };
    const blocked = { execute: gate.block(createPlant.execute) };
    const server = createServer(createKoaApp({ createPlant: blocked, tokenVerifier, inFlight }).callback());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = await RawClient.connect(portOf(server));
    client.send(Buffer.concat([post(), post()]));
    await waitUntil('both are in flight', async () => gate.calls === 2);
    client.close();
    await once(server.close(), 'close');
    gate.open();
    await waitUntil('none is in flight', async () => inFlight.requests === 0 && inFlight.bytes === 0);
  });

  it('release the permit of a client that disconnects at any point', async () => {
    const server = await start({ maxInFlight: 1 });
    const requests = [
      post(),
      inChunks(newPlant()),
      post(undefined, { Expect: '100-continue' }),
      post(undefined, { Authorization: '' }),
      request('CONNECT test:443'),
      Buffer.from('garbage\r\n\r\n'),
    ];
    for (const bytes of requests)
      for (const way of ['end', 'destroy', 'resetAndDestroy'] as const)
        for (const part of [0.5, 0.97, 1])
          for (const turns of [0, 2]) {
            const client = await RawClient.connect(server.port);
            client.send(bytes.subarray(0, bytes.length * part));
            for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
            client.socket[way]();
            // If a permit is never released, the test times out.
            let outcome = await server.send();
            while (outcome === 50302) outcome = await server.send();
            expect(outcome).to.equal(200);
          }
  });
});

describe('A create', () => {
  const start = support.httpServers();

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
