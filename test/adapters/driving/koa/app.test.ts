import type { HttpRoute } from '@plant-store/adapters/http';
import { createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { type HttpContractTarget, httpContract } from '@plant-store/contract/http';
import { CreatePlant } from '@plant-store/core';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS } from '../../../support/client.js';
import { httpServers, SWAGGER_UI } from '../../../support/http-server.js';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { request } from '../../../support/raw-http.js';
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
  const start = httpServers((api) => createKoaApp(api).callback());
  let target: HttpContractTarget;
  before(async () => {
    const createPlant = new CreatePlant(new MemoryPlantRepository());
    // One case waits for the headers timeout.
    const { port } = await start({ createPlant, swaggerUiFolder: SWAGGER_UI, headersTimeoutMs: 5000 });
    target = { baseUrl: `http://127.0.0.1:${port}`, token: TOKEN };
  });

  for (const { name, run } of httpContract) it(name, () => run(target));

  it('takes a processor time in proportion to the bytes of a request, whatever they are', async () => {
    const { port } = await start({ swaggerUiFolder: SWAGGER_UI });
    const requests = new Map([['a long path', request(`GET /${hostile('%2e/')}`)]]);
    for (const [line, headers] of Object.entries(REQUESTS))
      for (const [name, value] of HOSTILE)
        requests.set(`${line} with ${name}: ${value.slice(0, 20)}…`, request(line, { ...headers, [name]: value }));
    expect(await findSlow(port, requests)).to.deep.equal([]);
  });

  it('passes the values of the templates in a path to a route, which may respond with bytes', async () => {
    const encoder = new TextEncoder();
    const respond: HttpRoute['respond'] = ({ params }) => ({
      status: 200,
      headers: {},
      body: encoder.encode(params?.['bed']),
    });
    const server = await start({ routes: [{ method: 'GET', path: '/beds/{bed}', respond }] });
    expect(await server.exchange(request('GET /beds/7'))).to.include({ status: 200, body: '7' });
  });

  it('responds 50001 to a reply that it cannot write, and logs why', async () => {
    const logged: object[] = [];
    const log = { info() {}, error: (fields: object) => logged.push(fields) };
    const reply = { status: 200, headers: { Bed: '\n' }, body: '' };
    const server = await start({ log, routes: [{ method: 'GET', path: '/beds', respond: () => reply }] });
    expect(await server.send(request('GET /beds'))).to.equal(50001);
    expect(logged[0]).to.have.nested.property('err.code', 'ERR_INVALID_CHAR');
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
