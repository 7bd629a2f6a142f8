import { apiErrors } from '@plant-store/adapters/api';
import { TokenIssuerUnavailable, type TokenVerifier } from '@plant-store/core';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from '../../../support/client.js';
import { Gate, httpServers, post } from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';
import { recordLog } from '../../../support/record-log.js';
import { CANARY } from '../../../support/secret-leaks.js';

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
    await server.send(post(newPlant(), { 'X-Request-Id': 'first' }));
    const passedMs = performance.now() - startedAt;
    await server.send(request(`GET /${'x'.repeat(300)}?x=y`, { 'X-Request-Id': 'second' }));
    await server.send(post('{', { 'X-Request-Id': 'third' }));
    await server.send(post('', { 'X-Request-Id': 'fourth', Authorization: 'Bearer x' }));
    await server.send('garbage\r\n\r\n');
    expect(lines[0]?.['durationMs']).to.be.above(0).and.below(passedMs);
    const [subject, message] = ['tester', 'request'];
    const malformed = { status: 400, error: 40000, reason: apiErrors.malformedHttp.message, message };
    expect(lines.map(toPlain)).to.deep.equal([
      { requestId: 'first', method: 'POST', path: '/plants', subject, status: 200, message },
      { requestId: 'second', method: 'GET', path: `/${'x'.repeat(255)}`, status: 404, error: 40401, message },
      { requestId: 'third', method: 'POST', path: '/plants', subject, status: 400, error: 40001, message },
      {
        requestId: 'fourth',
        method: 'POST',
        path: '/plants',
        status: 401,
        error: 40102,
        reason: 'another token',
        message,
      },
      { requestId: lines[4]?.['requestId'], ...malformed },
    ]);
    expect(server.finished.map(toPlain)).to.deep.equal([
      { method: 'POST', route: '/plants', status: 200 },
      { method: 'GET', status: 404, error: 40401 },
      { method: 'POST', route: '/plants', status: 400, error: 40001 },
      { method: 'POST', route: '/plants', status: 401, error: 40102 },
      { status: 400, error: 40000 },
    ]);
  });

  it('has the traceparent of a request if it is valid', async () => {
    const server = await start({ log });
    const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const Traceparent of [valid, `x${valid}`, `${valid}x`]) await server.send(post(newPlant(), { Traceparent }));
    expect(lines.map(({ traceparent }) => traceparent)).to.deep.equal([valid, undefined, undefined]);
  });

  for (const { title, bytes } of [
    {
      title: 'has two lines with the id that the client chose for a request whose body is malformed',
      bytes: post('x\r\n', { 'X-Request-Id': 'cut', 'Transfer-Encoding': 'chunked' }),
    },
    {
      title: 'has two lines with the id that the client chose for a request whose body is late',
      bytes: post('', { 'X-Request-Id': 'cut', 'Content-Length': '100' }),
    },
  ]) {
    it(title, async () => {
      const server = await start({ log, requestTimeoutMs: 100, headersTimeoutMs: 100 });
      const client = await server.connect(bytes);
      const { status, outcome: error, headers } = (await client.readResponse()) ?? {};
      client.close();
      await server.waitForFinished(2);
      const requestId = 'cut';
      expect(headers).to.include({ 'x-request-id': requestId });
      expect(lines).to.have.lengthOf(2);
      expect(lines[0]).to.include({ requestId, status, error });
      expect(lines[1]).to.include({ requestId, method: 'POST', path: '/plants', subject: 'tester', aborted: true });
      expect(lines[1]).to.include({ status: undefined, error: undefined });
    });
  }

  it('has no line per request if accessLog is false, even for malformed HTTP', async () => {
    const server = await start({ log, accessLog: false });
    await server.send();
    await server.send('garbage\r\n\r\n');
    expect(lines).to.deep.equal([]);
  });

  const ABORTED = { status: undefined, error: undefined, aborted: true, message: 'request' };

  it('has a line without a status for a client that disconnects before its body arrives', async () => {
    const server = await start({ log });
    const client = await server.connect(post('', { 'Content-Length': '100', Expect: '100-continue' }));
    await client.readResponse();
    client.socket.resetAndDestroy();
    await server.waitForFinished(1);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ method: 'POST', path: '/plants', subject: 'tester', ...ABORTED });
  });

  /** Lets a client disconnect while its token is verified. */
  const disconnect = async (headers: Readonly<Record<string, string>>, failure?: Error) => {
    const gate = new Gate();
    const verify: TokenVerifier['verify'] = async (token) => {
      const verification = await gate.tokenVerifier.verify(token);
      if (failure) throw failure;
      return verification;
    };
    const server = await start({ log, tokenVerifier: { verify } });
    const client = await server.connect(post('', { ...headers, 'Content-Length': '100' }));
    await gate.arrived;
    client.socket.resetAndDestroy();
    await server.firstClosed();
    gate.open();
    await server.waitForFinished(1);
  };

  it('has a line without a status for a client that disconnects before its token is accepted', async () => {
    await disconnect({});
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ subject: 'tester', ...ABORTED });
  });

  it('has the reason or the failure of a verification, also if the client has disconnected', async () => {
    const failure = new TokenIssuerUnavailable('no response');
    await disconnect({ Authorization: 'Bearer wrong' });
    await disconnect({}, failure);
    expect(lines).to.have.lengthOf(3);
    expect(lines[0]).to.include({ reason: 'another token', ...ABORTED });
    expect(lines[1]).to.include({ err: failure, message: 'request failed' });
  });

  it('has no control character of a subject or an issuer, which a terminal would execute', async () => {
    const principal = { subject: 'a\x1b[2Jb\x7fc\x9bd\n', issuer: 'https://e\x1b' };
    const tokenVerifier = { verify: async () => ({ kind: 'valid', principal }) as const };
    const server = await start({ log, tokenVerifier });
    await server.send();
    expect(lines[0]).to.include({ subject: 'a\\u001b[2Jb\\u007fc\\u009bd\\u000a', issuer: 'https://e\\u001b' });
  });

  it('has no value from a client but the path, and the rejections have none either', async () => {
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
      if (outcome !== 200) expect(response?.body).to.not.include(CANARY);
      expect(lines.at(-1)).to.include({ requestId: response?.headers['x-request-id'] });
    }
    expect(JSON.stringify(lines)).to.not.include(CANARY);
  });
});
