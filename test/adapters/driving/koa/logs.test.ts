import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { it } from 'mocha';
import { apiErrors } from '../../../../adapters/driving/api/index.js';
import { HttpApi } from '../../../../adapters/driving/http/index.js';
import { request } from '../../../support/raw-http.js';
import { API_OPTIONS, Gate, HEADERS, httpSuite, newPlant, type Options, post } from './support.js';

/** A value from a client, which must never be logged. */
const CANARY = 'canary7f3a';

/** Records log lines. */
function recordLog() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  return { lines, options: { log: { info: write, error: write } } satisfies Options };
}

const TELLTALE = { name: CANARY, tag: CANARY, [CANARY]: CANARY };
const withCanaries = (body: string | Uint8Array = newPlant(TELLTALE), headers = {}) =>
  request(`POST /plants?${CANARY}=${CANARY}`, { ...HEADERS, Cookie: CANARY, ...headers }, body);

/** Requests full of canaries and their outcomes. */
const REQUESTS: Record<string, [bytes: string | Uint8Array, expected: number]> = {
  'a plant that is created': [withCanaries(), 200],
  'an unknown path': [request(`POST /plant?${CANARY}`, HEADERS, newPlant(TELLTALE)), 40401],
  'a target with a user': [request(`POST http://${CANARY}:${CANARY}@${CANARY}/plants?${CANARY}`, HEADERS, '{}'), 40401],
  'a wrong token': [withCanaries('', { Authorization: `Bearer ${CANARY}` }), 40102],
  'another media type': [withCanaries('', { 'Content-Type': `text/${CANARY}` }), 41501],
  'a body that is not JSON': [withCanaries(CANARY), 40001],
  'a body that is not a NewPlant': [withCanaries(newPlant({ ...TELLTALE, id: CANARY })), 40002],
  'an invalid X-Request-Id': [withCanaries(newPlant(), { 'X-Request-Id': `${CANARY} `.repeat(2) }), 200],
  'a line of garbage': [`${CANARY} ${CANARY}\r\n\r\n`, 40000],
};

const { lines: sharedLines, options: sharedOptions } = recordLog();

httpSuite('The log', sharedOptions, ({ server, start }) => {
  it('has one line per request, with the reason why a token is invalid, and the metrics have its route', async () => {
    const { lines, options } = recordLog();
    const ended: object[] = [];
    const own = await start(options);
    own.api.observe(({ durationMs, ...fields }) => ended.push(fields));
    await own.send(post(newPlant(), { 'X-Request-Id': 'first' }));
    await own.send(request(`GET /${'x'.repeat(300)}?x=y`, { 'X-Request-Id': 'second' }));
    await own.send(post('{', { 'X-Request-Id': 'third' }));
    await own.send(post('', { 'X-Request-Id': 'fourth', Authorization: 'Bearer x' }));
    const reason = 'another token';
    const [subject, message] = ['tester', 'request'];
    expect(lines.map(({ durationMs, ...fields }) => JSON.parse(JSON.stringify(fields)))).to.deep.equal([
      { requestId: 'first', method: 'POST', path: '/plants', subject, status: 200, message },
      { requestId: 'second', method: 'GET', path: `/${'x'.repeat(255)}`, status: 404, error: 40401, message },
      { requestId: 'third', method: 'POST', path: '/plants', subject, status: 400, error: 40001, message },
      { requestId: 'fourth', method: 'POST', path: '/plants', status: 401, error: 40102, reason, message },
    ]);
    expect(JSON.parse(JSON.stringify(ended))).to.deep.equal([
      { method: 'POST', route: '/plants', status: 200 },
      { method: 'GET', status: 404, error: 40401 },
      { method: 'POST', route: '/plants', status: 400, error: 40001 },
      { method: 'POST', route: '/plants', status: 401, error: 40102 },
    ]);
  });

  it('has the traceparent of a request if it is valid', async () => {
    const { lines, options } = recordLog();
    const own = await start(options);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const sent of [traceparent, CANARY]) await own.send(post(newPlant(), { Traceparent: sent }));
    expect(lines.map((line) => line['traceparent'])).to.deep.equal([traceparent, undefined]);
  });

  it('has a line for malformed HTTP, and the metrics count it', async () => {
    const { lines, options } = recordLog();
    const ended: object[] = [];
    const own = await start(options);
    own.api.observe((request) => ended.push(request));
    await own.send('garbage\r\n\r\n');
    expect(JSON.parse(JSON.stringify(ended))).to.deep.equal([{ status: 400, error: 40000 }]);
    expect(lines[0]).to.include({ message: 'request', status: 400, reason: apiErrors.malformedHttp.message });
  });

  for (const [what, bytes] of [
    ['malformed', post('x\r\n', { 'Transfer-Encoding': 'chunked' })],
    ['late', post('', { 'Content-Length': '100' })],
  ] as const) {
    it(`has one line, with the id of the response, for a request whose body is ${what}`, async () => {
      const { lines, options } = recordLog();
      const own = await start({ ...options, requestTimeoutMs: 100, headersTimeoutMs: 100 });
      const startedAt = performance.now();
      const client = await own.connect(bytes);
      const response = await client.readResponse();
      client.close();
      while (lines.length === 0) await new Promise(setImmediate);
      await new Promise(setImmediate);
      const requestId = response?.headers['x-request-id'];
      const { status, outcome: error } = response ?? {};
      expect(lines).to.have.lengthOf(1);
      expect(lines[0]).to.include({ requestId, method: 'POST', path: '/plants', status, error, subject: 'tester' });
      if (what === 'late') expect(lines[0]?.['durationMs']).to.be.within(50, performance.now() - startedAt);
    });
  }

  it('has no line per request if accessLog is false, even for malformed HTTP', async () => {
    const { lines, options } = recordLog();
    const own = await start({ ...options, accessLog: false });
    await own.send(post(newPlant()));
    await own.send('garbage\r\n\r\n');
    expect(lines).to.deep.equal([]);
  });

  it('has a line without a status for a client that disconnects before its body arrives', async () => {
    const { lines, options } = recordLog();
    const own = await start(options);
    const headers = { 'Content-Length': '100', 'Content-Encoding': 'gzip', Expect: '100-continue' };
    const client = await own.connect(post('', headers));
    await client.readResponse();
    client.socket.resetAndDestroy();
    const aborted = () => lines.filter(({ method }) => method === 'POST');
    while (aborted().length === 0) await own.waitUntilRead();
    expect(aborted()).to.have.lengthOf(1);
    expect(aborted()[0]).to.include({ path: '/plants', status: undefined, error: undefined, aborted: true });
  });

  it('has a line without a status for a client that disconnects before its token is rejected', async () => {
    const { lines, options } = recordLog();
    const gate = new Gate();
    const own = await start({ ...options, tokenVerifier: gate.beforeFirstVerify() });
    const client = await own.connect(post('', { Authorization: 'Bearer wrong', 'Content-Length': '100' }));
    await gate.arrived;
    client.socket.resetAndDestroy();
    while (own.connections !== 0) await new Promise(setImmediate);
    gate.open();
    while (lines.length === 0) await new Promise(setImmediate);
    expect(lines[0]).to.include({ status: undefined, error: undefined, reason: 'another token', aborted: true });
  });

  it('has no control character of a subject or a path, which a terminal would execute', async () => {
    const { lines, options } = recordLog();
    const principal = { subject: 'a\x1b[2Jb\x7fc\x9bd\n' };
    const tokenVerifier = { verify: async () => ({ kind: 'valid', principal }) as const };
    const [endpoint] = new HttpApi({ ...API_OPTIONS, ...options, tokenVerifier }).endpoints;
    const head = { method: 'POST', url: '/\x1b[2J\x9b', headers: { authorization: 'Bearer x' } };
    const req = Object.assign(new IncomingMessage(new Socket()), head);
    await endpoint?.handle({ req, res: new ServerResponse(req) });
    expect(lines[0]).to.include({ path: '/\\u001b[2J\\u009b', subject: 'a\\u001b[2Jb\\u007fc\\u009bd\\u000a' });
  });

  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`has one line, without values from the client: ${what}`, async () => {
      sharedLines.length = 0;
      const response = await server().exchange(bytes);
      expect(response).to.include({ outcome: expected });
      expect(sharedLines.map(({ requestId }) => requestId)).to.deep.equal([response?.headers['x-request-id']]);
      expect(JSON.stringify(sharedLines)).to.not.include(CANARY);
      if (expected !== 200) expect(response?.body, 'the response').to.not.include(CANARY);
    });
  }
});

const VALID_IDS = ['a', '7f1c2b9e-5a3d-4f60-9d8c-0123456789ab', 'Root:1-x', 'x.y_z-1:2', 'x'.repeat(128)];
const INVALID_IDS = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a<b>', 'a=b', 'a/b', 'a\tb', 'Gr\xfcn', '{"a":1}'];

httpSuite('X-Request-Id', {}, ({ server }) => {
  const readId = async (bytes: string | Uint8Array) => (await server().exchange(bytes))?.headers['x-request-id'];

  it('is generated for each request without a valid one', async () => {
    const invalid = INVALID_IDS.map((id) => post(newPlant(), { 'X-Request-Id': id }));
    const ids: unknown[] = [];
    for (const bytes of [post(), post('{'), 'garbage\r\n\r\n', ...invalid]) ids.push(await readId(bytes));
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(new Set(ids)).to.have.property('size', ids.length);
  });

  it('is echoed if it is valid, or if it is the first of several', async () => {
    expect(await readId(post(newPlant(), { 'X-Request-Id': 'a', 'x-request-id': 'b' }))).to.equal('a');
    for (const id of VALID_IDS) {
      expect(await readId(post(newPlant(), { 'X-Request-Id': id }))).to.equal(id);
      expect(await readId(post('{', { 'X-Request-Id': id })), 'on a rejection').to.equal(id);
    }
  });
});
