import { apiErrors } from '@plant-store/adapters/api';
import { HttpApi } from '@plant-store/adapters/http';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { type HttpContractTarget, httpContract } from '@plant-store/contract/http';
import { CreatePlant, StorageUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { before, beforeEach, describe, it } from 'mocha';
import type { ResponseObserver } from '#contract/http/connection.js';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { description, undeclared } from '../../../support/description.js';
import {
  API_OPTIONS,
  Gate,
  httpServers,
  type Options,
  post,
  requestOf,
  SWAGGER_UI,
  type TestServer,
} from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { TOKEN } from '../../../support/service.js';

/** Records log lines. */
function recordLog() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  return { lines, log: { info: write, error: write } };
}

const failing = (error: Error): Options => ({ createPlant: { execute: () => Promise.reject(error) } });
const cause = new Error(CANARY);

describe('The HTTP API without a framework', () => {
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

  for (const { title, expected, options } of [
    { title: 'responds 50001 if the use case fails', expected: 50001, options: failing(cause) },
    {
      title: 'responds 50301 if the storage is unavailable',
      expected: 50301,
      options: failing(new StorageUnavailable(CANARY, { cause })),
    },
    {
      title: 'responds 50002 if the storage rejects the plant',
      expected: 50002,
      options: { createPlant: { execute: async () => ({ kind: 'rejected', error: cause }) as const } },
    },
    {
      title: 'responds 50304 if the token issuer is unavailable',
      expected: 50304,
      options: { tokenVerifier: { verify: () => Promise.reject(new TokenIssuerUnavailable(CANARY)) } },
    },
  ]) {
    it(title, async () => {
      const { lines, log } = recordLog();
      const server = await start({ ...options, maxInFlight: 1, log });
      const response = await server.exchange();
      expect(response).to.include({ outcome: expected });
      expect(JSON.stringify(response)).to.not.include(CANARY);
      expect(lines.map(({ message }) => message)).to.deep.equal(['request failed', 'request']);
      expect(lines[0]).to.have.property('err').that.is.an('error');
      const fields = { requestId: response?.headers['x-request-id'], error: expected };
      for (const line of lines) expect(line).to.include(fields);
      expect(await server.send(), 'again').to.equal(expected);
    });
  }

  it('sends only responses that docs/openapi.yaml declares', () => {
    const found = observed.flatMap(([response, firstLine]) =>
      undeclared(response, firstLine).map((what) => `${firstLine}: ${what}`),
    );
    expect(found).to.deep.equal([]);
  });
});

describe('The log', () => {
  const start = httpServers();
  const { lines, log } = recordLog();
  beforeEach(() => {
    lines.length = 0;
  });

  it('has one line per request, with the reason why a token is invalid, and observers get its route', async () => {
    const server = await start({ log });
    const finished: object[] = [];
    server.api.observe(({ durationMs, ...fields }) => finished.push(fields));
    const startedAt = performance.now();
    await server.send(post(newPlant(), { 'X-Request-Id': 'first' }));
    const passedMs = performance.now() - startedAt;
    await server.send(request(`GET /${'x'.repeat(300)}?x=y`, { 'X-Request-Id': 'second' }));
    await server.send(post('{', { 'X-Request-Id': 'third' }));
    await server.send(post('', { 'X-Request-Id': 'fourth', Authorization: 'Bearer x' }));
    expect(lines[0]?.['durationMs']).to.be.above(0).and.below(passedMs);
    const reason = 'another token';
    const [subject, message] = ['tester', 'request'];
    expect(lines.map(({ durationMs, ...fields }) => JSON.parse(JSON.stringify(fields)))).to.deep.equal([
      { requestId: 'first', method: 'POST', path: '/plants', subject, status: 200, message },
      { requestId: 'second', method: 'GET', path: `/${'x'.repeat(255)}`, status: 404, error: 40401, message },
      { requestId: 'third', method: 'POST', path: '/plants', subject, status: 400, error: 40001, message },
      { requestId: 'fourth', method: 'POST', path: '/plants', status: 401, error: 40102, reason, message },
    ]);
    expect(JSON.parse(JSON.stringify(finished))).to.deep.equal([
      { method: 'POST', route: '/plants', status: 200 },
      { method: 'GET', status: 404, error: 40401 },
      { method: 'POST', route: '/plants', status: 400, error: 40001 },
      { method: 'POST', route: '/plants', status: 401, error: 40102 },
    ]);
  });

  it('has the traceparent of a request if it is valid', async () => {
    const server = await start({ log });
    const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const Traceparent of [valid, `x${valid}`, `${valid}x`]) await server.send(post(newPlant(), { Traceparent }));
    expect(lines.map(({ traceparent }) => traceparent)).to.deep.equal([valid, undefined, undefined]);
  });

  it('has a line for malformed HTTP, and observers are called', async () => {
    const server = await start({ log });
    const finished: object[] = [];
    server.api.observe((fields) => finished.push(fields));
    await server.send('garbage\r\n\r\n');
    expect(JSON.parse(JSON.stringify(finished))).to.deep.equal([{ status: 400, error: 40000 }]);
    expect(lines[0]).to.include({ message: 'request', status: 400, reason: apiErrors.malformedHttp.message });
  });

  for (const { title, bytes } of [
    {
      title: 'has one line, with the id of the response, for a request whose body is malformed',
      bytes: post('x\r\n', { 'Transfer-Encoding': 'chunked' }),
    },
    {
      title: 'has one line, with the id of the response, for a request whose body is late',
      bytes: post('', { 'Content-Length': '100' }),
    },
  ]) {
    it(title, async () => {
      const server = await start({ log, requestTimeoutMs: 100, headersTimeoutMs: 100 });
      const finished = new Promise((resolve) => server.api.observe(resolve));
      const client = await server.connect(bytes);
      const { status, outcome: error, headers } = (await client.readResponse()) ?? {};
      client.close();
      await finished;
      await new Promise(setImmediate);
      expect(lines).to.have.lengthOf(1);
      const response = { requestId: headers?.['x-request-id'], status, error };
      expect(lines[0]).to.include({ ...response, method: 'POST', path: '/plants', subject: 'tester' });
    });
  }

  it('has no line per request if accessLog is false, even for malformed HTTP', async () => {
    const server = await start({ log, accessLog: false });
    await server.send();
    await server.send('garbage\r\n\r\n');
    expect(lines).to.deep.equal([]);
  });

  it('has a line without a status for a client that disconnects before its body arrives', async () => {
    const server = await start({ log });
    const finished = new Promise((resolve) => server.api.observe(resolve));
    const headers = { 'Content-Length': '100', 'Content-Encoding': 'gzip', Expect: '100-continue' };
    const client = await server.connect(post('', headers));
    await client.readResponse();
    client.socket.resetAndDestroy();
    await finished;
    await new Promise(setImmediate);
    expect(lines).to.have.lengthOf(1);
    const { requestId, durationMs, ...fields } = JSON.parse(JSON.stringify(lines[0]));
    expect(fields).to.deep.equal({
      method: 'POST',
      path: '/plants',
      subject: 'tester',
      aborted: true,
      message: 'request',
    });
  });

  it('has a line without a status for a client that disconnects before its token is rejected', async () => {
    const gate = new Gate();
    const server = await start({ log, tokenVerifier: gate.tokenVerifier });
    const finished = new Promise((resolve) => server.api.observe(resolve));
    const client = await server.connect(post('', { Authorization: 'Bearer wrong', 'Content-Length': '100' }));
    await gate.arrived;
    client.socket.resetAndDestroy();
    await server.firstClosed();
    gate.open();
    expect(await finished).to.include({ status: undefined, error: undefined });
    await new Promise(setImmediate);
    expect(lines[0]).to.include({ status: undefined, error: undefined, reason: 'another token', aborted: true });
  });

  it('has the failure of the token verifier, also if the client has disconnected', async () => {
    const gate = new Gate();
    const failure = new TokenIssuerUnavailable('no response');
    const verify = (token: string) => gate.tokenVerifier.verify(token).then(() => Promise.reject(failure));
    const server = await start({ log, tokenVerifier: { verify } });
    const finished = new Promise((resolve) => server.api.observe(resolve));
    const client = await server.connect(post('', { 'Content-Length': '100' }));
    await gate.arrived;
    client.socket.resetAndDestroy();
    await server.firstClosed();
    gate.open();
    await finished;
    expect(lines[0]).to.include({ err: failure, message: 'request failed' });
  });

  it('has no control character of a subject, an issuer or a path, which a terminal would execute', async () => {
    const principal = { subject: 'a\x1b[2Jb\x7fc\x9bd\n', issuer: 'https://e\x1b' };
    const tokenVerifier = { verify: async () => ({ kind: 'valid', principal }) as const };
    const [endpoint] = new HttpApi({ ...API_OPTIONS, log, tokenVerifier }).endpoints;
    const headers = { authorization: 'Bearer x' };
    await endpoint?.handle(requestOf({ method: 'POST', url: '/\x1b[2J\x9b', headers }));
    expect(lines[0]).to.include({
      path: '/\\u001b[2J\\u009b',
      subject: 'a\\u001b[2Jb\\u007fc\\u009bd\\u000a',
      issuer: 'https://e\\u001b',
    });
  });

  it('has no value from a client but the path, and the rejections have none either', async () => {
    const telltale = { name: CANARY, tag: CANARY, [CANARY]: CANARY };
    const create = (body: string, headers = {}) =>
      request(`POST /plants?${CANARY}=${CANARY}`, { ...CREATE_HEADERS, Cookie: CANARY, ...headers }, body);
    const server = await start({ log });
    for (const [bytes, outcome] of [
      [create(newPlant(telltale)), 200],
      [create(newPlant(), { 'X-Request-Id': `${CANARY} `.repeat(2) }), 200],
      [request(`POST /plant?${CANARY}`, CREATE_HEADERS, newPlant(telltale)), 40401],
      [request(`POST http://${CANARY}:${CANARY}@${CANARY}/plants?${CANARY}`, CREATE_HEADERS, '{}'), 40401],
      [create('', { Authorization: `Bearer ${CANARY}` }), 40102],
      [create('', { 'Content-Type': `text/${CANARY}` }), 41501],
      [create(CANARY), 40001],
      [create(newPlant(telltale, `"${CANARY}"`)), 40002],
      [`${CANARY} ${CANARY}\r\n\r\n`, 40000],
    ] as const) {
      const response = await server.exchange(bytes);
      expect(response).to.include({ outcome });
      if (outcome !== 200) expect(response?.body).to.not.include(CANARY);
      expect(lines.at(-1)).to.include({ requestId: response?.headers['x-request-id'] });
    }
    expect(lines).to.have.lengthOf(9);
    expect(JSON.stringify(lines)).to.not.include(CANARY);
  });
});

describe('X-Request-Id', () => {
  const start = httpServers();
  let server: TestServer;
  before(async () => {
    server = await start();
  });
  const readId = async (bytes: string | Uint8Array) => (await server.exchange(bytes))?.headers['x-request-id'];

  it('is generated for each request without a valid one', async () => {
    const invalid = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a<b>', 'a=b', 'a/b', 'a\tb', 'Gr\xfcn', '{"a":1}'];
    const requests = invalid.map((id) => post(newPlant(), { 'X-Request-Id': id }));
    const ids: unknown[] = [];
    for (const bytes of [post(), post('{'), 'garbage\r\n\r\n', ...requests]) ids.push(await readId(bytes));
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(new Set(ids)).to.have.property('size', ids.length);
  });

  it('is echoed if it is valid, or if it is the first of several', async () => {
    for (const id of ['a', '7f1c2b9e-5a3d-4f60-9d8c-0123456789ab', 'Root:1-x', 'x.y_z-1:2', 'x'.repeat(128)])
      expect(await readId(post(newPlant(), { 'X-Request-Id': id }))).to.equal(id);
    expect(await readId(post('{', { 'X-Request-Id': 'a', 'x-request-id': 'b' }))).to.equal('a');
  });
});

describe('HttpApi', () => {
  it('serves the description with the path prefix as its server, also that of an outer app', async () => {
    const get = requestOf({ method: 'GET', url: '/garden/openapi.json', headers: {} });
    const { endpoints } = new HttpApi({ ...API_OPTIONS, basePath: '/garden' });
    const endpoint = endpoints.find(({ path }) => path === '/garden/openapi.json');
    for (const [outer, url] of [
      [{}, '/garden'],
      [{ originalUrl: '/openapi.json' }, '/'],
      [{ originalUrl: '/outer/garden/openapi.json?x=y' }, '/outer/garden'],
    ] as const) {
      const reply = await endpoint?.handle({ ...get, ...outer });
      expect(JSON.parse(`${reply?.body}`)).to.deep.equal({ ...description, servers: [{ url }] });
    }
  });

  it('responds to failures without a log, too', async () => {
    const tokenVerifier = { verify: () => Promise.reject(cause) };
    const [create] = new HttpApi({ ...API_OPTIONS, tokenVerifier }).endpoints;
    const headers = { authorization: 'Bearer x' };
    expect(await create?.handle(requestOf({ method: 'POST', url: '/plants', headers }))).to.include({ status: 500 });
  });

  it('responds 40401 to other forms of a target, which a framework may accept', async () => {
    const [create] = new HttpApi(API_OPTIONS).endpoints;
    for (const url of ['/plants#x', 'http://test/plants', '*'])
      expect(await create?.handle(requestOf({ method: 'POST', url })), url).to.include({ status: 404 });
  });

  it('rejects two routes for the same method and path', () => {
    const route = { method: 'GET', path: '/openapi.json', respond: () => ({ status: 200, headers: {}, body: '' }) };
    expect(() => new HttpApi({ ...API_OPTIONS, routes: [route] })).to.throw('a route for GET /openapi.json');
  });

  it('logs a failure of the framework, and returns a reply with 50001', () => {
    const { lines, log } = recordLog();
    const failed = requestOf({ headers: { 'x-request-id': 'first' } });
    const api = new HttpApi({ ...API_OPTIONS, log });
    failed.res.setHeader('Content-Encoding', 'gzip');
    const reply = api.fail(failed, cause);
    expect(reply).to.include({ status: 500 }).and.have.property('body').that.includes('50001');
    expect(failed.res.getHeaders()).to.deep.equal({ 'x-request-id': 'first' });
    failed.res.writeHead(200);
    api.fail(failed, cause);
    const line = { requestId: 'first', error: 50001, err: cause, message: 'request failed' };
    expect(lines).to.deep.equal([line, line]);
  });
});
