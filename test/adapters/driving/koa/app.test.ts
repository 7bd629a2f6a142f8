import { openApiDescription } from '@plant-store/adapters/api';
import { addRoutes, createBaseApp, createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { type HttpContractTarget, httpContract } from '@plant-store/contract/http';
import { CreatePlant } from '@plant-store/core';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { before, beforeEach, describe, it } from 'mocha';
import type { ResponseObserver } from '#contract/http/connection.js';
import { chunked, newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { description, undeclared } from '../../../support/description.js';
import { httpServers, post, SWAGGER_UI, type TestServer } from '../../../support/http-server.js';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { TOKEN } from '../../../support/service.js';

/** Headers on which a parser of a library takes, or took, long. */
const HOSTILE = [
  ['Accept', hostile(',', '"')],
  ['Accept', hostile('W/"a",')],
  ['Host', hostile('o', '@xn--')],
  ['Host', hostile('\xe9\xfc', '@')],
  ['If-None-Match', hostile('",')],
  ['If-None-Match', hostile(', ')],
  ['Cache-Control', hostile(' ', ',')],
  ['Cache-Control', hostile('no-cache ')],
  ['Content-Type', hostile(';', 'application/json')],
  ['Content-Encoding', hostile(', ')],
  ['Authorization', hostile(' ', 'Bearer')],
  ['X-Request-Id', hostile('a')],
] as const;

/** Requests to which a hostile header is added. */
const REQUESTS = {
  'GET /': {},
  'HEAD /docs': {},
  'HEAD /docs/swagger-ui-bundle.js': { 'If-None-Match': '"x"' },
  'GET /openapi.json': {},
  'POST /plants': CREATE_HEADERS,
  'POST /plants?without-a-credential': {},
  'GET /plants': {},
  'GET /nowhere': {},
};

describe('The Koa app', () => {
  const observed: Parameters<ResponseObserver>[] = [];
  const observe: ResponseObserver = (...response) => observed.push(response);
  const start = httpServers(undefined, observe);
  let target: HttpContractTarget & { readonly observe: ResponseObserver };
  before(async () => {
    const createPlant = new CreatePlant(new MemoryPlantRepository());
    // One case waits for the headers timeout.
    const { port } = await start({ createPlant, swaggerUiFolder: SWAGGER_UI, headersTimeoutMs: 5000 });
    target = { baseUrl: `http://127.0.0.1:${port}`, token: TOKEN, observe };
  });

  for (const { name, run } of httpContract) it(name, () => run(target));

  it('sends only responses that docs/openapi.yaml declares', () => {
    const found = observed.flatMap(([response, firstLine]) =>
      undeclared(response, firstLine).map((what) => `${firstLine}: ${what}`),
    );
    expect(found).to.deep.equal([]);
  });

  it('serves every operation that docs/openapi.yaml describes', async () => {
    const server = await start();
    for (const [path, methods] of Object.entries(openApiDescription.paths))
      for (const method of Object.keys(methods))
        expect(await server.send(request(`${method.toUpperCase()} ${path}`)), path).to.equal(40101);
  });

  it('takes a processor time in proportion to the bytes of a request, whatever they are', async () => {
    const { port } = await start({ swaggerUiFolder: SWAGGER_UI });
    const requests = new Map([['a long path', request(`GET /${hostile('%2e/')}`)]]);
    for (const [line, headers] of Object.entries(REQUESTS))
      for (const [name, value] of HOSTILE)
        requests.set(`${line} with ${name}: ${value.slice(0, 20)}…`, request(line, { ...headers, [name]: value }));
    expect(await findSlow(port, requests)).to.deep.equal([]);
  });

  it('prints nothing to the console if a client resets its connection during a response', async () => {
    const printed: unknown[] = [];
    const { error } = console;
    console.error = (text) => printed.push(text);
    try {
      const server = await start({ swaggerUiFolder: SWAGGER_UI });
      const client = await server.connect();
      client.socket.pause();
      client.send(Buffer.concat(Array(7).fill(request('GET /docs/swagger-ui-bundle.js'))));
      await server.waitUntilRead();
      client.socket.resetAndDestroy();
      await server.firstClosed();
    } finally {
      console.error = error;
    }
    expect(printed).to.deep.equal([]);
  });
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
  beforeEach(() => {
    lines.length = 0;
  });
  const errors: unknown[] = [];
  const startAfter = httpServers((options) =>
    createKoaApp(options)
      .use((ctx) => (ctx.body = 'later'))
      .callback(),
  );
  const startBefore = httpServers((options) => {
    const app = createBaseApp(options);
    app.on('error', (error) => errors.push(error));
    app.use((ctx, next) => (ADDITIONS[ctx.querystring] ?? ((_, proceed) => proceed()))(ctx, next));
    return addRoutes(app, options).callback();
  });
  let server: TestServer;
  before(async () => {
    server = await startBefore({ log });
  });
  const logged = () => lines.map(({ message, status, error }) => [message, status, error]);

  it('has a middleware after its routes for every other path, in the place of 404 and 405', async () => {
    const extended = await startAfter();
    expect(await extended.send()).to.equal(200);
    for (const line of ['GET /hello', 'PUT /plants'])
      expect(await extended.exchange(request(line))).to.include({ status: 200, body: 'later' });
  });

  it('has a middleware before its routes for every path', async () => {
    const created = await server.exchange(request('POST /plants?header', CREATE_HEADERS, newPlant()));
    expect(created).to.have.nested.include({ outcome: 200, 'headers.x-bed': '200' });
    const rejected = await server.exchange(request('GET /plants?header'));
    expect(rejected).to.have.nested.include({ outcome: 40501, 'headers.x-bed': '405' });
    expect(await server.exchange(request('GET /?raw'))).to.include({ status: 200, body: 'raw' });
    expect(await server.exchange(request('GET /?missing'))).to.include({ status: 404, body: 'no bed' });
  });

  it('turns an error of a middleware into an Error object with its status, and with its message if it is exposed', async () => {
    const limited = await server.exchange(request('GET /?limit'));
    expect(limited).to.have.nested.include({ status: 429, 'headers.retry-after': '9' });
    expect(limited?.json()).to.deep.equal({ error: 42900, message: 'Too many plants' });
    const hidden = await server.exchange(request('GET /?hidden'));
    expect(hidden?.json()).to.deep.equal({ error: 40200, message: 'Payment Required' });
    expect(logged()).to.deep.equal([
      ['request', 429, 42900],
      ['request', 402, 40200],
    ]);
  });

  it('responds 50001 to any other failure of a middleware, logs it, and emits it as Koa does', async () => {
    expect(await server.send(request('GET /?failing'))).to.equal(50001);
    expect(logged()).to.deep.equal([
      ['request failed', undefined, 50001],
      ['request', 500, 50001],
    ]);
    expect(errors.at(-1)).to.equal(lines[0]?.['err']);
  });

  it('breaks the connection if a middleware fails after its response has begun', async () => {
    const client = await server.connect(request('GET /?begun'));
    expect(await client.readResponse()).to.equal(undefined);
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
    app.use(mount(createKoaApp(options)));
    return app.callback();
  });
  const create = (body: string) => request('POST /outer/garden/plants', CREATE_HEADERS, body);

  it('creates plants behind a body parser of the outer app, and with exact ids', async () => {
    const server = await start({ createPlant: new CreatePlant(new MemoryPlantRepository()) });
    expect(await server.send(create('{"id":9007199254740993,"name":"é漢🌱"}'))).to.equal(200);
    expect(await server.send(create('{"id":9007199254740992,"name":"é漢🌱"}'))).to.equal(200);
    expect(await server.send(create('{"id":9007199254740993,"name":"é漢🌱"}'))).to.equal(40902);
  });

  it('rejects a chunked body that a body parser of the outer app has read beyond the maximum', async () => {
    const server = await start({ bodyLimitBytes: 100 });
    const chunks = chunked(newPlant({ name: 'x'.repeat(100) }));
    const headers = { ...CREATE_HEADERS, 'Transfer-Encoding': 'chunked' };
    expect(await server.send(request('POST /outer/garden/plants', headers, chunks))).to.equal(41301);
    expect(server.load.inFlightBytes).to.equal(0);
  });

  it('creates plants behind a body parser for other types, which the outer app disables', async () => {
    const server = await startBehindForms();
    expect(await server.send()).to.equal(200);
  });

  it('leaves other paths to the outer app', async () => {
    const server = await start();
    expect(await server.exchange(request('GET /outer/other'))).to.include({ status: 200, body: 'other' });
    expect(await server.send(request('GET /outer/nothing'))).to.equal(40401);
    const wrong = await server.exchange(request('GET /outer/garden/plants'));
    expect(wrong).to.have.nested.include({ outcome: 40501, 'headers.allow': 'POST' });
    expect(await server.exchange(request('GET /garden/plants'))).to.include({ status: 404, body: 'Not Found' });
  });

  it('has the whole prefix as the server in its description', async () => {
    const server = await start();
    for (const target of ['/outer/garden/openapi.json', '/outer/garden/openapi.json?x=y'])
      expect((await server.exchange(request(`GET ${target}`)))?.json()).to.deep.equal({
        ...description,
        servers: [{ url: '/outer/garden' }],
      });
  });
});
