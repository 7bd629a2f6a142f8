import Router from '@koa/router';
import { addRoutes, type ClientRoutes, createBaseApp, reject } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { httpContract } from '@plant-store/contract/http';
import { CreatePlant } from '@plant-store/core';
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { before, describe, it } from 'mocha';
import type { ResponseObserver } from '#contract/http/connection.js';
import { CREATE_HEADERS, request, TOKEN } from '../../../support/client.js';
import { undeclared } from '../../../support/description.js';
import { waitUntil } from '../../../support/wait-until.js';
import { httpServers, SWAGGER_UI, type TestServer } from '../test-server.js';

describe('The Koa app', () => {
  const observed: Parameters<ResponseObserver>[] = [];
  const start = httpServers();
  let server: TestServer;
  before(async () => {
    const createPlant = new CreatePlant(new MemoryPlantRepository());
    // One case waits for the headers timeout.
    server = await start({ createPlant, swaggerUiFolder: SWAGGER_UI, headersTimeoutMs: 5000 });
  });

  for (const { name, run } of httpContract)
    it(name, () => {
      const observe: ResponseObserver = (...response) => observed.push(response);
      const target = { baseUrl: `http://127.0.0.1:${server.port}`, token: TOKEN, observe };
      return run(target);
    });

  it('sends only responses that docs/openapi.yaml declares', () => {
    const found = observed.flatMap(([response, firstLine]) =>
      undeclared(response, firstLine).map((what) => `${firstLine}: ${what}`),
    );
    expect(found).to.deep.equal([]);
  });

  it('releases what it has reserved for each create', () =>
    waitUntil('no create is in flight', async () => server.inFlight.requests === 0 && server.inFlight.bytes === 0));
});

describe('A Koa app that is extended', () => {
  const start = httpServers();

  it('has middlewares before its routes for every path, and after them for the paths that it does not have', async () => {
    const server = await start({}, (options) => {
      const app = createBaseApp(options).use(async (ctx, next) => {
        await next();
        ctx.set('X-Bed', `${ctx.status}`);
      });
      const later: Middleware = (ctx) => {
        if (ctx.path === '/missing') Object.assign(ctx, { status: 404, body: 'no bed' });
      };
      return addRoutes(app, options).use(later).callback();
    });
    const get = (path: string) => server.exchange(request(`GET ${path}`));
    expect(await get('/plants')).to.have.nested.include({ outcome: 40501, 'headers.x-bed': '405' });
    expect(await get('/nothing')).to.have.nested.include({ outcome: 40401, 'headers.x-bed': '404' });
    expect(await get('/missing')).to.include({ status: 404, body: 'no bed' });
  });
});

const showClient: Middleware = (ctx) => {
  ctx.body = ctx.state['principal']?.subject;
};

/** Ways in which the users of @koa/router add a route, by a path that it gets below `/garden` or elsewhere. */
const CLIENT_ROUTES: Readonly<Record<string, ClientRoutes>> = {
  '/garden/pots': (router) => router.get('/pots', showClient),
  '/GARDEN/nested': (router) => router.use(new Router().get('/nested', showClient).routes()),
  '/expression': (router) => router.get(/^\/expression$/, showClient),
  '/garden/v2/prefix': (router) => router.prefix('/v2').get('/prefix', showClient),
  '/garden/exclusive': (router) => Object.assign(router, { exclusive: true }).get('/exclusive', showClient),
  '/garden/with/1': (router) =>
    router.param('id', (_, ctx, next) => showClient(ctx, next)).get('/with/:id', showClient),
};

describe('The routes that a user adds for authenticated clients', () => {
  const start = httpServers();
  const get = (server: TestServer, path: string, headers = {}) =>
    server.exchange(request(`GET ${path}`, { ...CREATE_HEADERS, ...headers }));

  it('never run without a credential, however they are added', async () => {
    const server = await start({ basePath: '/garden', routes: Object.values(CLIENT_ROUTES) });
    for (const path of Object.keys(CLIENT_ROUTES)) {
      expect(await get(server, path, { Authorization: undefined }), path).to.include({ outcome: 40101 });
      expect(await get(server, path), path).to.include({ outcome: 200, body: 'tester' });
    }
  });

  it('may respond with an error or have own middlewares, and are reported under their path', async () => {
    const rejecting: ClientRoutes = (router) => router.use((ctx) => ctx.throw(418)).get('/teapot', showClient);
    const add: ClientRoutes = (router) =>
      router.get('/taken/:id', (ctx) => reject(ctx, { error: 40903, message: 'taken' }));
    const server = await start({ routes: [rejecting, add] });
    for (const [path, route, error] of [
      ['/teapot', '/teapot', 41800],
      ['/taken/1', '/taken/:id', 40903],
    ] as const) {
      await get(server, path);
      expect(server.finished.at(-1), path).to.include({ route, error });
    }
    await get(server, '/taken/1', { Authorization: undefined });
    expect(server.finished.at(-1)).to.include({ route: '/taken/:id', error: 40101 });
  });
});
