import { ServerResponse } from 'node:http';
import { addRoutes, type ClientRoutes, createBaseApp } from '@plant-store/adapters/koa';
import { StorageUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { describe, it } from 'mocha';
import { limitInFlight } from '#adapters/driving/koa/middlewares.js';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS, RawClient, request } from '../../../support/client.js';
import { undeclared } from '../../../support/description.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { waitUntil } from '../../../support/wait-until.js';
import { createPlant, httpServers, inChunks, post, tokenVerifier } from '../test-server.js';

// A hook fails the run if a response contains the canary.
describe('A failure', () => {
  const start = httpServers();
  const httpError = Object.assign(new Error(CANARY), { status: 413, expose: true, headers: { [CANARY]: 'x' } });
  const createFails = (failure: unknown) => ({ createPlant: { execute: () => Promise.reject(failure) } });
  const createRejects = (error: Error) => ({
    createPlant: { execute: async () => ({ kind: 'rejected', error }) as const },
  });
  const verifyFails = (failure: unknown) => ({ tokenVerifier: { verify: () => Promise.reject(failure) } });

  for (const [title, failure, fail, error] of [
    ['of the use case gets 50001, even if it is an HTTP error', httpError, createFails, 50001],
    ['of the token verifier gets 50001, even if it is an HTTP error', httpError, verifyFails, 50001],
    ['that is no Error gets 50001', { name: CANARY }, createFails, 50001],
    ['of the storage gets 50301', new StorageUnavailable(CANARY), createFails, 50301],
    ['to store one plant gets 50002', new Error(CANARY), createRejects, 50002],
    ['of the token issuer gets 50304', new TokenIssuerUnavailable(CANARY), verifyFails, 50304],
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
  const start = httpServers();
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

  it('may throw an HTTP error, whose message and headers the client gets', async () => {
    const response = await run((ctx) => ctx.throw(429, 'Too many plants', { headers: { 'Retry-After': '9' } }));
    expect(response).to.nested.include({ status: 429, 'headers.retry-after': '9' });
    expect(response?.json()).to.deep.equal({ error: 42900, message: 'Too many plants' });
    expect(lines.map(({ message }) => message)).to.deep.equal(['request']);
  });

  const throwing = (members: object) => () => {
    throw Object.assign(new Error(CANARY), members);
  };
  const begun: Middleware = (ctx) => {
    ctx.res.write('part');
    throw new Error(CANARY);
  };
  for (const [title, middleware, outcome, message] of [
    ['may throw an HTTP error with a message for the log', throwing({ status: 402 }), 40200, 'request failed'],
    ['that fails gets 50001', throwing({}), 50001, 'request failed'],
    ['whose body Koa cannot send gets 500', (ctx) => (ctx.body = { id: 1n }), 500, 'the response cannot be sent'],
    ['that fails after its response has begun ends the connection', begun, undefined, 'request failed'],
  ] satisfies readonly (readonly [string, Middleware, number | undefined, string])[]) {
    it(title, async () => {
      expect((await run(middleware))?.outcome).to.equal(outcome);
      const failures = lines.filter(({ err }) => err instanceof Error);
      expect(failures.map((line) => line['message'])).to.have.members(['emitted', message]);
    });
  }
});

describe('Requests in flight', () => {
  const start = httpServers();

  it('count from their arrival up to the maximum number, and reserve memory once the client is authenticated', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const verify = (token: string) => opened.then(() => tokenVerifier.verify(token));
    const addRoute: ClientRoutes = (router) => router.get('/pots', (ctx) => (ctx.body = 'pots'));
    const server = await start({ maxInFlight: 2, tokenVerifier: { verify }, routes: [addRoute] });
    const accepted = [await server.connect(post()), await server.connect(request('GET /pots', CREATE_HEADERS))];
    expect(server.inFlight).to.deep.equal({ requests: 2, bytes: 0 });
    const rejected = await server.exchange(post('', { Authorization: 'Bearer wrong' }));
    expect(rejected).to.include({ outcome: 50302 });
    expect(rejected && undeclared(rejected)).to.deep.equal([]);
    open();
    for (const client of accepted) expect(await client.readResponse()).to.include({ outcome: 200 });
    expect(await server.send()).to.equal(200);
  });

  it('count until their response is sent or lost', async () => {
    // More than the buffers of the operating system hold.
    const large = { id: 1n, name: 'x'.repeat(12_000_000), tag: undefined };
    const server = await start({ createPlant: { execute: () => createPlant.execute(large) } });
    const client = await server.connect();
    client.socket.pause();
    client.send(post('{"id":1,"name":"x"}'));
    await waitUntil('the response is being sent', async () => server.finished.length > 1);
    expect(server.finished.at(-1)).to.include({ status: 200 });
    expect(server.inFlight).to.deep.equal({ requests: 1, bytes: 8 * 19 });
    client.close();
    await waitUntil('the response is lost', async () => server.inFlight.requests === 0);
    expect(server.inFlight.bytes).to.equal(0);
  });

  it('no longer count if the response is lost before it has a socket, as pipelined ones may be', async () => {
    const inFlight = { requests: 0, bytes: 8 };
    const ctx = { res: new ServerResponse(Object({ method: 'POST' })), state: { memoryBytes: 8 } };
    await limitInFlight(inFlight, 1)(Object(ctx), async () => {});
    expect(inFlight).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('release the permit of a client that disconnects at any point', async () => {
    const server = await start({ maxInFlight: 1 });
    const requests = [post(), inChunks(newPlant()), post(undefined, { Expect: '100-continue' })];
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
