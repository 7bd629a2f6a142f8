import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { request } from '../../../support/client.js';
import { recordLog } from '../../../support/record-log.js';
import { ALL_BUT_FIVE_BYTES, FIVE_BYTES, HELD, holdingServers, NEXT } from '../test-server.js';

const CHUNKED = { 'X-Request-Id': 'mine', 'Transfer-Encoding': 'chunked' };
const CONNECT = request('CONNECT plants.example:443');

describe('Malformed HTTP', () => {
  const start = holdingServers();

  it('is reported with the id that the client chose, and logged unless accessLog is false', async () => {
    const { lines, log } = recordLog();
    const malformed = request('POST /held', CHUNKED, 'x\r\n');
    const { server } = await start({ log });
    expect(await server.exchange(malformed)).to.nested.include({ outcome: 40000, 'headers.x-request-id': 'mine' });
    expect(server.finished).to.deep.equal([{ status: 400, error: 40000 }]);
    const reason = 'The request is not well-formed HTTP/1.1';
    const line = { requestId: 'mine', status: 400, error: 40000, reason, message: 'request' };
    expect(lines).to.deep.equal([line]);
    const { server: silent } = await start({ log, accessLog: false });
    await silent.exchange(malformed);
    expect(lines).to.deep.equal([line]);
  });

  it('in a body gets no response if another is pending, being sent or sent', async () => {
    const malformed = request('POST /next', CHUNKED, 'x\r\n');
    const begun = request('POST /held', CHUNKED, '0');
    for (const [situation, before, respond, after] of [
      ['pending', HELD, () => {}, malformed],
      ['being sent', begun, (response?: ServerResponse) => response?.write('some'), 'x\r\n'],
      ['sent', begun, (response?: ServerResponse) => response?.end('all'), 'x\r\n'],
    ] as const) {
      const { server, held } = await start();
      const client = await server.connect(before);
      respond(held[0]);
      client.send(after).send(NEXT);
      await server.waitUntilRead();
      held[0]?.end();
      expect(await client.readOutcomes(), situation).to.deep.equal([200]);
    }
  });

  it('gets a 405 with the other methods if it is CONNECT, also after a client has left before its own', async () => {
    const { server, held } = await start();
    const leaving = await server.connect(`${HELD}${CONNECT}`);
    const client = await server.connect(`${HELD}${CONNECT}`);
    leaving.socket.resetAndDestroy();
    for (const response of held) response.end();
    const [, rejected] = await client.readAllResponses();
    expect(rejected).to.include({ outcome: 40501 });
    expect(rejected?.headers['allow']).to.include('POST').and.not.include('CONNECT');
  });
});

describe('A late client', () => {
  const start = holdingServers();

  for (const [title, first, rest, keepAliveTimeoutMs] of [
    ['that has sent nothing gets 40801', '', HELD, 20],
    ['gets 40801, and then completes no headers', 'POST /held', ' HTTP/1.1\r\n\r\n', 500],
    ['gets 40801, and then completes no body', ALL_BUT_FIVE_BYTES, FIVE_BYTES, 500],
  ] as const) {
    it(title, async () => {
      const { server, held } = await start({ headersTimeoutMs: 150, requestTimeoutMs: 150, keepAliveTimeoutMs });
      const client = await server.connect(first);
      held[0]?.req.resume();
      const response = await client.readResponse();
      expect(response).to.include({ outcome: 40801 }).and.nested.include({ 'headers.connection': 'close' });
      client.send(rest);
      expect(await client.readOutcomes()).to.deep.equal([]);
      await server.waitUntilRead();
      expect(held.map(({ req }) => req.complete)).to.deep.equal(rest === FIVE_BYTES ? [false] : []);
    });
  }
});
