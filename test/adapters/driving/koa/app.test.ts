import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
} from 'node:http2';
import { buffer, text } from 'node:stream/consumers';
import Router from '@koa/router';
import { openApiDescription } from '@plant-store/adapters/api';
import { addRoutes, type ClientRoutes, createBaseApp, createKoaApp, reject } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { httpContract } from '@plant-store/contract/http';
import { CreatePlant, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { after, before, describe, it } from 'mocha';
import type { ResponseObserver } from '#contract/http/connection.js';
import { chunked, newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { description, undeclared } from '../../../support/description.js';
import { API_OPTIONS, httpServers, post, SWAGGER_UI, type TestServer } from '../../../support/http-server.js';
import { portOf } from '../../../support/port.js';
import { exchange, request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { TOKEN } from '../../../support/service.js';
import { waitUntil } from '../../../support/wait-until.js';

describe('The Koa app', () => {
  const observed: Parameters<ResponseObserver>[] = [];
  const observe: ResponseObserver = (...response) => observed.push(response);
  const start = httpServers(undefined, observe);
  let server: TestServer;
  before(async () => {
    const createPlant = new CreatePlant(new MemoryPlantRepository());
    // One case waits for the headers timeout.
    server = await start({ createPlant, swaggerUiFolder: SWAGGER_UI, headersTimeoutMs: 5000 });
  });

  for (const { name, run } of httpContract)
    it(name, () => {
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

describe('A Koa app with options', () => {
  const start = httpServers();

  it('serves a description of its own, and validates with its schemas', async () => {
    const description = structuredClone(openApiDescription);
    Object.assign(description, { components: { schemas: { NewPlant: { type: 'object', maxProperties: 2 } } } });
    const server = await start({ description });
    expect((await server.exchange(request('GET /openapi.json')))?.json()).to.deep.equal(description);
    expect(await server.send(post('{"id":1,"name":"Aloe","tag":""}'))).to.equal(40002);
  });
});

/** Middlewares of a user, by the query of the requests for which they do something. */
const ADDITIONS: Readonly<Record<string, Middleware>> = {
  header: async (ctx, next) => {
    await next();
    ctx.set('X-Bed', `${ctx.status}`);
  },
  limit: (ctx) => ctx.throw(429, 'Too many plants', { headers: { 'Retry-After': '9' } }),
  hidden: () => {
    throw Object.assign(new Error(CANARY), { status: 402 });
  },
  failing: () => {
    throw new Error(CANARY);
  },
  success: () => {
    throw Object.assign(new Error(CANARY), { status: 200 });
  },
  bigint: (ctx) => {
    ctx.body = { id: 1n };
  },
  begun: (ctx) => {
    ctx.res.write('part');
    throw new Error(CANARY);
  },
  missing: (ctx) => {
    ctx.status = 404;
    ctx.body = 'no bed';
  },
  raw: (ctx) => {
    ctx.respond = false;
    setImmediate(() => ctx.res.writeHead(200).end('raw'));
  },
};

describe('A Koa app that is extended', () => {
  const { lines, log } = recordLog();
  const errors: unknown[] = [];
  const start = httpServers((options) => {
    const app = createBaseApp(options);
    app.on('error', (error) => errors.push(error));
    app.use((ctx, next) => ADDITIONS[ctx.querystring]?.(ctx, next) ?? next());
    return addRoutes(app, options)
      .use((ctx) => {
        if (ctx.path === '/later') ctx.body = 'later';
      })
      .callback();
  });
  let server: TestServer;
  before(async () => {
    server = await start({ log });
  });
  const get = (target: string) => server.exchange(request(`GET ${target}`));
  const logged = () => lines.splice(0).map(({ message, status, error }) => [message, status, error]);

  it('has middlewares before its routes for every path, and after them for the paths that it does not have', async () => {
    const created = await server.exchange(request('POST /plants?header', CREATE_HEADERS, newPlant()));
    expect(created).to.have.nested.include({ outcome: 200, 'headers.x-bed': '200' });
    expect(await get('/plants?header')).to.have.nested.include({ outcome: 40501, 'headers.x-bed': '405' });
    expect(await get('/?raw')).to.include({ status: 200, body: 'raw' });
    expect(await get('/?missing')).to.include({ status: 404, body: 'no bed' });
    expect(await get('/later')).to.include({ status: 200, body: 'later' });
  });

  it('turns an error of a middleware into an Error object with its status, and logs it unless its message is exposed', async () => {
    lines.length = 0;
    const limited = await get('/?limit');
    expect(limited).to.have.nested.include({ status: 429, 'headers.retry-after': '9' });
    expect(limited?.json()).to.deep.equal({ error: 42900, message: 'Too many plants' });
    expect((await get('/?hidden'))?.json()).to.deep.equal({ error: 40200, message: 'Payment Required' });
    expect(logged()).to.deep.equal([
      ['request', 429, 42900],
      ['request failed', undefined, 40200],
      ['request', 402, 40200],
    ]);
  });

  it('responds 50001 to any other failure of a middleware, logs it, and emits it as Koa does', async () => {
    lines.length = 0;
    expect(await get('/?failing')).to.include({ outcome: 50001 });
    expect(errors.at(-1)).to.equal(lines[0]?.['err']);
    expect(logged()).to.deep.equal([
      ['request failed', undefined, 50001],
      ['request', 500, 50001],
    ]);
  });

  it('takes a failure whose status is not that of an error for any other failure', async () => {
    expect(await get('/?success')).to.include({ outcome: 50001 });
  });

  it('logs a response that Koa cannot send, once', async () => {
    lines.length = 0;
    expect(await get('/?bigint')).to.include({ status: 500 });
    expect(lines[0]).to.include({ message: 'request' });
    expect(lines.slice(1).map(({ message, err }) => [message, `${err}`])).to.deep.equal([
      ['the response cannot be sent', 'TypeError: Do not know how to serialize a BigInt'],
    ]);
  });

  it('breaks the connection if a middleware fails after its response has begun', async () => {
    lines.length = 0;
    expect(await get('/?begun')).to.equal(undefined);
    expect(lines[0]).to.include({ message: 'request failed' });
  });
});

describe('A Koa app that is mounted', () => {
  const start = httpServers((options) => {
    const app = new Koa();
    app.use(bodyParser());
    app.use(mount('/outer', createKoaApp({ ...options, basePath: '/garden' })));
    app.use((ctx) => {
      if (ctx.path === '/outer/other') ctx.body = 'other';
    });
    return app.callback();
  });
  const startBehindForms = httpServers((options) => {
    const app = new Koa();
    app.use(bodyParser({ enableTypes: ['form'] }));
    app.use((ctx, next) => {
      ctx['disableBodyParser'] = true;
      return next();
    });
    return app.use(mount(createKoaApp(options))).callback();
  });

  it('creates plants behind a body parser of the outer app, with exact ids', async () => {
    const server = await start({ createPlant: new CreatePlant(new MemoryPlantRepository()) });
    const create = (id: string) =>
      server.send(request('POST /outer/garden/plants', CREATE_HEADERS, `{"id":${id},"name":"é漢🌱"}`));
    expect(await create('9007199254740993')).to.equal(200);
    expect(await create('9007199254740992')).to.equal(200);
    expect(await create('9007199254740993')).to.equal(40902);
  });

  it('rejects a chunked body that a body parser of the outer app has read beyond the maximum', async () => {
    const server = await start({ bodyLimitBytes: 100 });
    const headers = { ...CREATE_HEADERS, 'Transfer-Encoding': 'chunked' };
    const chunks = chunked(newPlant({ name: 'x'.repeat(100) }));
    expect(await server.send(request('POST /outer/garden/plants', headers, chunks))).to.equal(41301);
    expect(server.inFlight.bytes).to.equal(0);
  });

  it('creates plants behind a body parser for other types, which the outer app disables', async () => {
    const server = await startBehindForms();
    expect(await server.send()).to.equal(200);
  });

  it('leaves other paths to the outer app, and describes the whole prefix as its server', async () => {
    const server = await start();
    const get = (target: string) => server.exchange(request(`GET ${target}`));
    expect(await get('/outer/other')).to.include({ status: 200, body: 'other' });
    expect(await get('/outer/nothing')).to.include({ outcome: 40401 });
    expect(await get('/outer/garden/plants')).to.have.nested.include({ outcome: 40501, 'headers.allow': 'POST' });
    expect(await get('/garden/plants')).to.include({ status: 404, body: 'Not Found' });
    const described = (await get('/outer/garden/openapi.json?x=y'))?.json();
    expect(described).to.deep.equal({ ...description, servers: [{ url: '/outer/garden' }] });
  });
});

/** Ways in which the users of @koa/router add a route for `/garden/pots`, also under other paths. */
const CLIENT_ROUTES: Readonly<Record<string, ClientRoutes>> = {
  '/garden/pots': (router) => router.get('/pots', showClient),
  '/GARDEN/nested': (router) => router.use(new Router().get('/nested', showClient).routes()),
  '/expression': (router) => router.get(/^\/expression$/, showClient),
  '/garden/v2/prefix': (router) => router.prefix('/v2').get('/prefix', showClient),
  '/garden/exclusive': (router) => Object.assign(router, { exclusive: true }).get('/exclusive', showClient),
  '/garden/with/1': (router) =>
    router.param('id', (_, ctx, next) => showClient(ctx, next)).get('/with/:id', showClient),
};

function showClient(ctx: Parameters<Middleware>[0], _: unknown): void {
  ctx.body = `${ctx.state['principal']?.subject}`;
}

describe('The routes that a user adds for authenticated clients', () => {
  const start = httpServers();
  const get = async (server: TestServer, path: string, headers: Readonly<Record<string, string>> = CREATE_HEADERS) => {
    const { outcome, body } = (await server.exchange(request(`GET ${path}`, headers))) ?? {};
    return outcome === 200 ? body : outcome;
  };

  it('never run without a credential, however they are added', async () => {
    const server = await start({ basePath: '/garden', routes: Object.values(CLIENT_ROUTES) });
    for (const path of Object.keys(CLIENT_ROUTES)) {
      expect(await get(server, path, {}), path).to.equal(40101);
      expect(await get(server, path), path).to.equal('tester');
    }
  });

  it('run only their own middlewares', async () => {
    const server = await start({
      routes: [
        (router) => router.use((ctx) => ctx.throw(418)).get('/one', showClient),
        (router) => router.get('/two', showClient),
      ],
    });
    expect([await get(server, '/one'), await get(server, '/two')]).to.deep.equal([41800, 'tester']);
  });

  it('count as in flight until they settle', async () => {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const server = await start({ maxInFlight: 1, routes: [(router) => router.get('/pots', () => settled)] });
    const first = get(server, '/pots');
    await waitUntil('the first is in flight', async () => server.inFlight.requests === 1);
    expect([await get(server, '/pots'), await server.send()]).to.deep.equal([50302, 50302]);
    settle();
    await first;
    expect(await server.send()).to.equal(200);
  });

  it('may reject a request, throw an error or call `next`, and are then logged under their path', async () => {
    const server = await start({
      routes: [
        (router) => {
          router.get('/taken/:id', (ctx) => reject(ctx, { error: 40903, message: 'taken' }));
          router.get('/teapot', (ctx) => ctx.throw(418, 'short and stout'));
          router.get('/failing', () => {
            throw new StorageUnavailable('away');
          });
          router.get('/next', (_, next) => next());
          router.get(/^\/expression$/, showClient);
        },
      ],
    });
    const paths = ['/taken/1', '/teapot', '/failing', '/next'];
    const outcomes = await Promise.all(paths.map((path) => get(server, path)));
    expect(outcomes).to.deep.equal([40903, 41800, 50301, 40401]);
    expect(await get(server, '/taken/1', {})).to.equal(40101);
    expect(await get(server, '/expression')).to.equal('tester');
    const routes = server.finished.map(({ route, error }) => [route, error]);
    expect(routes).to.deep.include.members([
      ['/taken/:id', 40903],
      ['/taken/:id', 40101],
      ['/teapot', 41800],
      ['/^\\/expression$/', undefined],
    ]);
  });
});

describe('A Koa app behind another server', () => {
  const { lines, log } = recordLog();
  const inFlight = { requests: 0, bytes: 0 };
  const options = { ...API_OPTIONS, bodyLimitBytes: 100_000, swaggerUiFolder: SWAGGER_UI, log, inFlight };
  const app = createKoaApp(options).callback();
  // As Express does with an app that is mounted behind a body parser.
  const http1 = createServer(async (req, res) => {
    const { url = '' } = req;
    if (url.startsWith('/garden'))
      Object.assign(req, { originalUrl: url, url: url.slice('/garden'.length).replace(/^(?!\/)/, '/') });
    const bytes = url.includes('parse') ? await buffer(req) : undefined;
    if (url.includes('rawBody')) Object.assign(req, { rawBody: bytes });
    if (url.includes('body')) Object.assign(req, { body: `${bytes}` });
    app(req, res);
  });
  const http2 = createHttp2Server(app);
  let client: ClientHttp2Session;
  before(async () => {
    for (const server of [http1, http2]) await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connectHttp2(`http://127.0.0.1:${portOf(http2)}`);
  });
  after(() => {
    client.destroy();
    for (const server of [http1, http2]) server.close();
  });
  const send = (line: string, body = newPlant()) => exchange(portOf(http1), request(line, CREATE_HEADERS, body));

  it('ignores scheme, host and fragment of a target, and knows no path with two slashes', async () => {
    for (const [target, outcome] of [
      ['/plants#x', 200],
      ['http://%@h/plants?x#y', 200],
      ['//%@h/plants#x', 40401],
      ['http://h', 40501],
    ] as const)
      expect(await send(`POST ${target}`), target).to.include({ outcome });
  });

  it('describes the path at which it is mounted in Express as its server', async () => {
    const description = await send('GET /garden/openapi.json');
    expect(description?.json()).to.have.deep.property('servers', [{ url: '/garden' }]);
  });

  it('creates a plant from what another parser has kept, and otherwise names that parser', async () => {
    expect(await send('POST /plants?parse,rawBody')).to.include({ outcome: 200 });
    expect(await send('POST /plants?parse,body')).to.include({ outcome: 200 });
    lines.length = 0;
    expect(await send('POST /plants?parse', '')).to.include({ outcome: 40001 });
    lines.length = 0;
    const rejected = await send('POST /plants?parse');
    expect(rejected).to.include({ outcome: 40001 });
    expect(rejected?.json()).to.have.property('message').that.includes('Another body parser');
    expect(lines.map(({ message }) => message)).to.deep.equal(['request failed', 'request']);
  });

  it('redirects to the page below the path at which it is mounted', async () => {
    for (const [target, location] of [
      ['/garden/?x', 'docs'],
      ['/garden?x', './garden/docs'],
      ['/', 'docs'],
    ]) {
      const response = await exchange(portOf(http1), request(`GET ${target}`));
      expect(response, target).to.have.nested.include({ status: 302, 'headers.location': location });
    }
  });

  /** Sends a create without its length over HTTP/2. */
  const stream = (body: string) => {
    return client.request({ ':method': 'POST', ':path': '/plants', ...CREATE_HEADERS }).end(body);
  };

  it('reads a body without a length over HTTP/2, up to the maximum', async () => {
    expect(await text(stream(newPlant({ name: 'Aloe' })))).to.equal('{"name":"Aloe"}');
    expect(JSON.parse(await text(stream(newPlant({ name: 'x'.repeat(100_000) }))))).to.include({ error: 41301 });
    expect(JSON.parse(await text(stream('')))).to.include({ error: 40001 });
  });

  it('releases what it has reserved if a client of HTTP/2 cancels a create', async () => {
    const stream = client.request({ ':method': 'POST', ':path': '/plants', ...CREATE_HEADERS });
    stream.on('error', () => {}).write('{');
    await waitUntil('the create has arrived', async () => inFlight.bytes > 0);
    stream.close(constants.NGHTTP2_CANCEL);
    await waitUntil('nothing is reserved', async () => inFlight.requests === 0 && inFlight.bytes === 0);
  });
});
