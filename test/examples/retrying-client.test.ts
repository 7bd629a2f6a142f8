import type { RequestListener } from 'node:http';
import { createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { CreatePlant, type CreatePlantUseCase, MIN_PLANT_ID, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { httpServers, type TestServer } from '../support/http-server.js';
import { inRepository } from '../support/paths.js';
import { toPlant } from '../support/plants.js';
import { TOKEN } from '../support/service.js';

const { createPlant } = await import(inRepository('docs/examples/retrying-client/create-plant.js'));

/** A number rounds its id; its tag has a 0, and a pattern of `replace`. */
const MONSTERA = { id: 9_007_199_254_740_993n, name: 'Monstera', tag: 'indoor 0 $&' };

/** Responds as a proxy in front of the service does. */
const respond = (status: number, headers = {}, body = '<html>Sorry</html>'): RequestListener => {
  return (_, res) => res.writeHead(status, headers).end(body);
};

describe('The retrying client', () => {
  const random = Math.random;
  const timeout = AbortSignal.timeout;
  /** What happens to the next attempts, instead of the service. */
  let faults: RequestListener[];
  let repository: MemoryPlantRepository;
  /** Stands for the use case of the service until it is removed. */
  let fault: CreatePlantUseCase['execute'] | undefined;
  let pauses: number[];
  let server: TestServer;
  /** Resets and refuses connections between the client and the service. */
  let network: FaultyProxy;

  const start = httpServers();
  beforeEach(async () => {
    [faults, pauses, fault] = [[], [], undefined];
    repository = new MemoryPlantRepository();
    const useCase = new CreatePlant(repository);
    const execute: CreatePlantUseCase['execute'] = (plant) => (fault ?? useCase.execute.bind(useCase))(plant);
    server = await start({ createPlant: { execute } }, (options) => {
      const service = createKoaApp(options).callback();
      return (req, res) => (faults.shift() ?? service)(req, res);
    });
    network = await FaultyProxy.to(`http://127.0.0.1:${server.port}`);
    Math.random = () => 0.5;
  });
  afterEach(async () => {
    Math.random = random;
    AbortSignal.timeout = timeout;
    await network.refuseConnections();
  });

  /** Runs the client. Instead of waiting, it calls `meanwhile` with the number of the pause. */
  const run = async (meanwhile: (pause: number) => unknown = () => {}, options = {}, plant: object = MONSTERA) => {
    const baseUrl = new URL(network.toProxiedUrl(network.target)).origin;
    const pause = async (ms: number) => meanwhile(pauses.push(ms));
    return createPlant(plant, { baseUrl, token: TOKEN, pause, ...options });
  };
  /** What the service responded to each attempt that reached it. */
  const outcomes = () => server.finished.map(({ status, error }) => error ?? status);
  const stored = () => repository.read(MIN_PLANT_ID, 10);

  it('waits for Retry-After plus a random delay while the storage is unavailable', async () => {
    fault = async () => {
      throw new StorageUnavailable('the disk is full');
    };
    await run((pause) => {
      if (pause === 3) fault = undefined;
    });
    expect(outcomes()).to.deep.equal([50301, 50301, 50301, 200]);
    expect(pauses).to.deep.equal([5500, 6000, 7000]);
    expect(await stored()).to.have.lengthOf(1);
  });

  it('resolves after 40902 if the first response was lost', async () => {
    const useCase = new CreatePlant(repository);
    fault = async (plant) => {
      const outcome = await useCase.execute(plant);
      network.reset();
      return outcome;
    };
    await run(() => {
      fault = undefined;
    });
    expect(outcomes()).to.deep.equal([200, 40902]);
    expect(await stored()).to.deep.equal([toPlant(MONSTERA)]);
  });

  it('retries after refused connections and an incomplete response', async () => {
    await network.refuseConnections();
    faults = [(req, res) => res.writeHead(409, { 'Content-Length': 100 }).write('{', () => req.socket.destroy())];
    await run((pause) => pause === 2 && network.restore());
    expect(pauses).to.deep.equal([500, 1000, 2000]);
    expect(outcomes()).to.deep.equal([200]);
  });

  it('retries after fifteen seconds without a response', async () => {
    const time = new AbortController();
    const limits: number[] = [];
    AbortSignal.timeout = (ms) => {
      limits.push(ms);
      return time.signal;
    };
    faults = [() => time.abort()];
    await run(() => {
      AbortSignal.timeout = timeout;
    });
    expect(limits).to.deep.equal([15_000]);
    expect(outcomes()).to.deep.equal([200]);
  });

  it('retries after 408, 429, 502, 503, 504 and 50001', async () => {
    const internalError = '{"error":50001,"message":"Internal error"}';
    const date = { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' };
    faults = [408, 429, 502, 503, 504].map((status) => respond(status, date));
    faults.push(respond(429, { 'Retry-After': '9999999' }, '{upstream}'), respond(503, {}, '{"status":200}'));
    faults.push(respond(500, {}, internalError));
    await run();
    expect(pauses).to.deep.equal([500, 1000, 2000, 4000, 8000, 3_615_000, 15_000, 15_000]);
    expect(outcomes()).to.deep.equal([200]);
  });

  it('ends with 40901 if the id belongs to a different plant', async () => {
    await run();
    const error = await catchError(run(undefined, {}, { ...MONSTERA, name: 'Ficus' }));
    expect(error).to.be.an('error').that.includes({ error: 40901, message: 'id belongs to a different plant' });
    expect(await stored()).to.deep.equal([toPlant(MONSTERA)]);
  });

  it('ends with any other error', async () => {
    const rejected = '{"error":50002,"message":"The storage rejects this plant"}';
    faults = [respond(500, {}, rejected), respond(403, {}, 'null'), respond(200), respond(302, { Location: '/' })];
    expect(await catchError(run())).to.include({ error: 50002 });
    for (const status of [403, 200, 302])
      expect(await catchError(run())).to.include({ error: undefined, message: `HTTP status ${status}` });
    expect(await catchError(run(undefined, {}, { ...MONSTERA, tag: null }))).to.include({ error: 40002 });
    expect(await catchError(run(undefined, { token: 'another-token' }))).to.include({ error: 40102 });
    expect(pauses).to.deep.equal([]);
    expect(await stored()).to.deep.equal([]);
  });

  it('rejects an id that is a number', async () => {
    const rounded = await catchError(run(undefined, {}, { ...MONSTERA, id: Number(MONSTERA.id) }));
    expect(rounded).to.be.an.instanceOf(TypeError).with.property('message').that.includes('bigint');
  });

  it('starts no further attempt once its signal is aborted', async () => {
    const stop = new AbortController();
    faults = [respond(503)];
    const error = await catchError(run(() => stop.abort(), { signal: stop.signal }));
    expect(error).to.equal(stop.signal.reason);
    expect(server.finished).to.deep.equal([]);
  });
});
