import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS, request } from '../../../support/client.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { waitUntil } from '../../../support/wait-until.js';
import { httpServers, post, tokenVerifier } from '../test-server.js';

/** Removes members that are undefined, and the duration. */
const toPlain = ({ durationMs: _, ...fields }: object & { durationMs?: unknown }) => JSON.parse(JSON.stringify(fields));

describe('The log', () => {
  const start = httpServers();
  const { lines, log } = recordLog();
  beforeEach(() => {
    lines.length = 0;
  });

  it('has one line per request, with the reason why a token is invalid, and an observer gets its route', async () => {
    const server = await start({ log });
    const startedAt = performance.now();
    await server.send(post(newPlant(), { 'X-Request-Id': 'created' }));
    expect(lines[0]?.['durationMs']).to.be.within(0.001, performance.now() - startedAt);
    await server.send(request(`GET /${'x'.repeat(300)}?x=y`, { 'X-Request-Id': 'unknown' }));
    await server.send(post('', { 'X-Request-Id': 'invalid', Authorization: 'Bearer x' }));
    const [method, path, message] = ['POST', '/plants', 'request'];
    expect(lines.map(toPlain)).to.deep.equal([
      { requestId: 'created', method, path, subject: 'tester', status: 200, message },
      { requestId: 'unknown', method: 'GET', path: `/${'x'.repeat(255)}`, status: 404, error: 40401, message },
      { requestId: 'invalid', method, path, status: 401, error: 40102, reason: 'another token', message },
    ]);
    expect(server.finished.map(toPlain)).to.deep.equal([
      { method, route: path, status: 200 },
      { method: 'GET', status: 404, error: 40401 },
      { method, route: path, status: 401, error: 40102 },
    ]);
  });

  it('has the traceparent of a request if it is valid', async () => {
    const server = await start({ log });
    const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const Traceparent of [valid, `x${valid}`, `${valid}x`]) await server.send(post(newPlant(), { Traceparent }));
    expect(lines.map(({ traceparent }) => traceparent)).to.deep.equal([valid, undefined, undefined]);
  });

  it('has the subject, but no status and no failure, if a client disconnects before its body arrives', async () => {
    const gate = new EventEmitter();
    const verifyLate = (token: string) => once(gate, 'open').then(() => tokenVerifier.verify(token));
    for (const verify of [verifyLate, tokenVerifier.verify]) {
      const server = await start({ log, tokenVerifier: { verify } });
      const client = await server.connect(post('', { 'Content-Length': '100' }));
      client.socket.resetAndDestroy();
      await server.waitUntilRead();
      gate.emit('open');
      await waitUntil('the create ends', async () => server.finished.some(({ method }) => method === 'POST'));
    }
    expect(lines.filter(({ message }) => message !== 'request')).to.deep.equal([]);
    const aborted = lines.filter(({ status }) => status === undefined);
    expect(aborted).to.have.lengthOf(2);
    for (const line of aborted) expect(line).to.include({ path: '/plants', subject: 'tester', aborted: true });
  });

  it('has no control character of a subject or an issuer, which a terminal would execute', async () => {
    const principal = { subject: 'a\x1b[2Jb\x7fc\x9bd\n', issuer: 'https://e\x1b' };
    const tokenVerifier = { verify: async () => ({ kind: 'valid', principal }) as const };
    const server = await start({ log, tokenVerifier });
    await server.send();
    expect(lines[0]).to.include({ subject: 'a\\u001b[2Jb\\u007fc\\u009bd\\u000a', issuer: 'https://e\\u001b' });
  });

  // A hook fails the run if a rejection has one.
  it('has no value from a client but the path', async () => {
    const telltale = { name: CANARY, tag: CANARY, [CANARY]: CANARY };
    const create = (body: string, headers = {}) =>
      request(`POST /plants?${CANARY}=${CANARY}`, { ...CREATE_HEADERS, Cookie: CANARY, ...headers }, body);
    const server = await start({ log });
    for (const [bytes, outcome] of [
      [create(newPlant(telltale)), 200],
      [request(`POST http://${CANARY}:${CANARY}@${CANARY}/plant?${CANARY}`, CREATE_HEADERS, '{}'), 40401],
      [create('', { Authorization: `Bearer ${CANARY}` }), 40102],
      [create('', { 'Content-Type': `text/${CANARY}` }), 41501],
      [create(CANARY), 40001],
      [create(newPlant(telltale, `"${CANARY}"`)), 40002],
      [`${CANARY} ${CANARY}\r\n\r\n`, 40000],
    ] as const) {
      const response = await server.exchange(bytes);
      expect(response).to.include({ outcome });
      expect(lines.at(-1)).to.include({ requestId: response?.headers['x-request-id'] });
    }
    expect(JSON.stringify(lines)).to.not.include(CANARY);
  });
});
