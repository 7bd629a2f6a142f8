import { TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { Gate, httpServers, post, tokenVerifier } from '../../../support/http-server.js';
import { RawClient, request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { waitUntil } from '../../../support/wait-until.js';

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
    expect(lines[0]?.['durationMs'])
      .to.be.above(0)
      .and.below(performance.now() - startedAt);
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

  it('has no line per request if accessLog is false', async () => {
    const server = await start({ log, accessLog: false });
    expect(await server.send()).to.equal(200);
    expect(lines).to.deep.equal([]);
  });

  const ABORTED = { status: undefined, error: undefined, aborted: true, message: 'request' };

  it('has no status for a client that disconnects before its body arrives', async () => {
    const server = await start({ log });
    const client = await RawClient.connect(server.port);
    await client.send(post('', { 'Content-Length': '100', Expect: '100-continue' })).readResponse();
    client.socket.resetAndDestroy();
    await waitUntil('a line is written', async () => lines.length > 0);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ method: 'POST', path: '/plants', subject: 'tester', ...ABORTED });
  });

  it('has the subject, the reason or the failure if a client disconnects while its token is verified', async () => {
    const failure = new TokenIssuerUnavailable('no response');
    for (const [Authorization, verify, fields] of [
      [CREATE_HEADERS.Authorization, tokenVerifier.verify, { subject: 'tester' }],
      ['Bearer wrong', tokenVerifier.verify, { reason: 'another token' }],
      ['Bearer any', () => Promise.reject(failure), { subject: undefined }],
    ] as const) {
      const gate = new Gate();
      const server = await start({ log, tokenVerifier: { verify: gate.block(verify) } });
      const client = await server.connect(post('', { Authorization, 'Content-Length': '100' }));
      client.socket.resetAndDestroy();
      await server.waitUntilRead();
      lines.length = 0;
      gate.open();
      await waitUntil('the last line is written', async () => lines.at(-1)?.['message'] === 'request');
      expect(lines.at(-1)).to.include({ ...fields, ...ABORTED });
    }
    expect(lines[0]).to.include({ err: failure, message: 'request failed' });
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
      [create(newPlant(), { 'X-Request-Id': `${CANARY} `.repeat(2) }), 200],
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
