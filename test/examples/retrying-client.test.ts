import type { RequestListener } from 'node:http';
import { mock } from 'node:test';
import { createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { CreatePlant, MIN_PLANT_ID } from '@plant-store/core';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { httpServers, type TestServer } from '../adapters/driving/test-server.js';
import { catchError } from '../support/catch-error.js';
import { TOKEN } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { toPlant } from '../support/plants.js';

const { createPlant } = await import(inRepository('docs/examples/retrying-client/create-plant.js'));

/** A number rounds its id; its tag has a 0, and a pattern of `replace`. */
const MONSTERA = { id: 9_007_199_254_740_993n, name: 'Monstera', tag: 'indoor 0 $&' };

/** Responds as the service, or a proxy in front of it, may do. */
const respond = (status: number, headers = {}, body = '<html>Sorry</html>'): RequestListener => {
  return (_, res) => res.writeHead(status, headers).end(body);
};

describe('The retrying client', () => {
  const startServer = httpServers();
  /** What happens to the next attempts, instead of the service. */
  let faults: RequestListener[];
  let pauses: number[];
  let repository: MemoryPlantRepository;
  let service: RequestListener;
  let server: TestServer;
  beforeEach(async () => {
    [faults, pauses] = [[], []];
    repository = new MemoryPlantRepository();
    server = await startServer({ createPlant: new CreatePlant(repository) }, (options) => {
      service = createKoaApp(options).callback();
      return (req, res) => (faults.shift() ?? service)(req, res);
    });
    mock.method(Math, 'random', () => 0.5);
  });
  afterEach(() => mock.restoreAll());

  /** Runs the client, which does not wait between its attempts. */
  const run = (options = {}, plant: object = MONSTERA) => {
    const pause = async (ms: number) => void pauses.push(ms);
    return createPlant(plant, { baseUrl: `http://127.0.0.1:${server.port}`, token: TOKEN, pause, ...options });
  };
  const stored = () => repository.read(MIN_PLANT_ID, 10);

  it('waits for Retry-After plus a random delay, and retries what may succeed, until the plant is stored', async () => {
    faults = [
      respond(408, { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' }),
      respond(429, { 'Retry-After': '5' }),
      respond(502),
      respond(503, {}, '{"status":200}'),
      respond(504, { 'Retry-After': '9999999' }, '{upstream}'),
      respond(500, {}, '{"error":50001,"message":"Internal error"}'),
      (req, res) => res.writeHead(409, { 'Content-Length': 100 }).write('{', () => req.socket.destroy()),
      // Creates the plant, but the response is lost.
      (req, res) => service(req, Object.assign(res, { end: () => req.socket.destroy() })),
    ];
    await run();
    expect(pauses).to.deep.equal([500, 6000, 2000, 4000, 3_608_000, 15_000, 15_000, 15_000]);
    expect(server.finished.at(-1)).to.include({ error: 40902 });
    expect(await stored()).to.deep.equal([toPlant(MONSTERA)]);
  });

  it('ends with any other error', async () => {
    expect(await catchError(run({}, { ...MONSTERA, id: 1 }))).to.match(/^TypeError: the id must be a bigint/);
    await repository.add([toPlant({ ...MONSTERA, name: 'Ficus' })]);
    expect(await catchError(run())).to.include({ error: 40901, message: 'id belongs to a different plant' });
    expect(await catchError(run({}, { ...MONSTERA, tag: null }))).to.include({ error: 40002 });
    expect(await catchError(run({ token: 'another-token' }))).to.include({ error: 40102 });
    faults = [respond(500, {}, '{"error":50002,"message":"The storage rejects this plant"}')];
    expect(await catchError(run())).to.include({ error: 50002 });
    faults = [respond(403, {}, 'null'), respond(200), respond(302, { Location: '/' })];
    for (const status of [403, 200, 302])
      expect(await catchError(run())).to.include({ error: undefined, message: `HTTP status ${status}` });
    expect(pauses).to.deep.equal([]);
    expect(await stored()).to.have.lengthOf(1);
  });
});
