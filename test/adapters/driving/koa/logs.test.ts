import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import {
  HEADERS,
  newPlant,
  type Options,
  outcome,
  post,
  postHead,
  send,
  sendToEnd,
  sharedServer,
  startInTest,
  waitUntilRead,
} from './support.js';

/** A value from a client, which must never be logged. */
const CANARY = 'canary7f3a';
const failure = () => new Error(`insert into plants values ('${CANARY}')`);

type Line = Readonly<Record<string, unknown>>;

/** Records log lines without the errors, which the composition's logger reduces. */
function recordLog(): { lines: Line[]; options: Options } {
  const lines: Line[] = [];
  const write = (fields: object) => void lines.push({ ...fields, ...('err' in fields ? { err: 'error' } : {}) });
  return { lines, options: { log: { info: write, error: write } } };
}

const TELLTALE = { id: `${CANARY}`, name: CANARY, tag: CANARY, [CANARY]: CANARY };
const plant = () => newPlant({ name: CANARY, tag: CANARY, [CANARY]: CANARY });
const withCanaries = (body: string | Uint8Array, headers = {}) =>
  request(`POST /plants?${CANARY}=${CANARY}`, { ...HEADERS, Cookie: CANARY, ...headers }, body);

/** Requests full of canaries and their outcomes. */
const REQUESTS: Record<string, [bytes: string | Uint8Array, expected: number]> = {
  'a plant that is created': [withCanaries(plant()), 200],
  'an unknown path': [request(`POST /plant?${CANARY}`, HEADERS, plant()), 40401],
  'a target with a user': [request(`POST http://${CANARY}:${CANARY}@${CANARY}/plants?${CANARY}`, HEADERS, '{}'), 40401],
  'a target without a path': [request(`OPTIONS *?${CANARY}`, HEADERS), 40401],
  'another method': [request(`PUT /plants?${CANARY}`, HEADERS, plant()), 40501],
  'another authentication scheme': [withCanaries(plant(), { Authorization: `Basic ${CANARY}` }), 40101],
  'a wrong token': [withCanaries(plant(), { Authorization: `Bearer ${CANARY}` }), 40102],
  'an unknown Expect': [withCanaries(plant(), { Expect: CANARY }), 41701],
  'another media type': [withCanaries(plant(), { 'Content-Type': `text/${CANARY}` }), 41501],
  'an unknown Content-Encoding': [withCanaries(plant(), { 'Content-Encoding': CANARY }), 41501],
  'a body that does not match its Content-Encoding': [withCanaries(plant(), { 'Content-Encoding': 'gzip' }), 40001],
  'a body that is too large': [withCanaries(CANARY.repeat(200_000)), 41301],
  'a body that is too large after decompression': [
    withCanaries(gzipSync(CANARY.repeat(200_000)), { 'Content-Encoding': 'gzip' }),
    41301,
  ],
  'a body that is not JSON': [withCanaries(CANARY), 40001],
  'a body that is not UTF-8': [withCanaries(Buffer.from(`"${CANARY}\xff"`, 'latin1')), 40001],
  'a body that is not a NewPlant': [withCanaries(JSON.stringify(TELLTALE)), 40002],
  'a name that cannot be stored': [withCanaries(newPlant({ name: `${CANARY}\0` })), 40003],
  'an invalid X-Request-Id': [withCanaries(plant(), { 'X-Request-Id': `${CANARY} `.repeat(2) }), 200],
  'a bad chunk': [withCanaries(`${CANARY}\r\n`, { 'Transfer-Encoding': 'chunked' }), 40000],
  'a line of garbage': [`${CANARY} ${CANARY}\r\n\r\n`, 40000],
  'headers that are too large': [withCanaries('', { [CANARY]: CANARY.repeat(2000) }), 43101],
};

const rejecting = (error: unknown): Options => ({ createPlant: { execute: () => Promise.reject(error) } });
const rejected = { kind: 'rejected', error: new PlantRejected('rejected', { cause: failure() }) } as const;
const issuerUnavailable = () => Promise.reject(new TokenIssuerUnavailable('no response', { cause: failure() }));
const BROKEN: Record<string, [options: Options, expected: number]> = {
  'an unexpected error': [rejecting(failure()), 50001],
  'a string': [rejecting(CANARY), 50001],
  'an unavailable storage': [rejecting(new StorageUnavailable('no response', { cause: failure() })), 50301],
  'a plant that the storage rejects': [{ createPlant: { execute: async () => rejected } }, 50002],
  'an unavailable token issuer': [{ tokenVerifier: { verify: issuerUnavailable } }, 50304],
};

describe('The log', () => {
  const start = startInTest();

  it('has one line per request, with its id, its caller and its duration', async () => {
    const { lines, options } = recordLog();
    const server = await start(options);
    await send(server, post(newPlant(), { 'X-Request-Id': 'first' }));
    await send(server, request('GET /nothing/here?x=y', { 'X-Request-Id': 'second' }));
    await send(server, post('{', { 'X-Request-Id': 'third' }));
    const subject = 'tester';
    expect(lines.map(({ durationMs, ...fields }) => JSON.parse(JSON.stringify(fields)))).to.deep.equal([
      { requestId: 'first', method: 'POST', path: '/plants', subject, status: 200 },
      { requestId: 'second', method: 'GET', path: '/nothing/here', status: 404, error: 40401 },
      { requestId: 'third', method: 'POST', path: '/plants', subject, status: 400, error: 40001 },
    ]);
    for (const { durationMs } of lines) expect(durationMs).to.be.a('number').within(0, 10_000);
  });

  it('has one line per pipelined request', async () => {
    const { lines, options } = recordLog();
    const last = post(newPlant(), { Connection: 'close' });
    await sendToEnd(await start(options), Buffer.concat([post(), post('{'), last]));
    expect(lines.map(({ status }) => status)).to.have.members([200, 200, 400]);
  });

  for (const coding of ['identity', 'gzip', 'br']) {
    it(`has a line without a status for a client that disconnects before its body in ${coding} arrives`, async () => {
      const { lines, options } = recordLog();
      const server = await start(options);
      const client = await RawClient.connect(server.port);
      const headers = { 'Content-Length': '100', 'Content-Encoding': coding, Expect: '100-continue' };
      await client.send(postHead(headers)).readResponse();
      client.socket.resetAndDestroy();
      const aborted = () => lines.filter(({ method }) => method === 'POST');
      while (aborted().length === 0) await waitUntilRead(server);
      expect(aborted()).to.have.lengthOf(1);
      expect(aborted()[0]).to.include({ path: '/plants', status: undefined, error: undefined, aborted: true });
    });
  }

  const { lines: sharedLines, options: sharedOptions } = recordLog();
  const server = sharedServer(sharedOptions);
  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`has one line, without values from the client: ${what}`, async () => {
      sharedLines.length = 0;
      const response = await exchange(server().port, bytes);
      expect(outcome(response)).to.equal(expected);
      expect(sharedLines.map(({ requestId }) => requestId)).to.deep.equal([response?.headers['x-request-id']]);
      expect(JSON.stringify(sharedLines)).to.not.include(CANARY);
      if (expected !== 200) expect(response?.body, 'the response').to.not.include(CANARY);
    });
  }

  for (const [what, [options, expected]] of Object.entries(BROKEN)) {
    it(`has the error under the request id: ${what}`, async () => {
      const log = recordLog();
      const response = await exchange((await start({ ...log.options, ...options })).port, post(plant()));
      expect(outcome(response)).to.equal(expected);
      const requestId = response?.headers['x-request-id'];
      expect(log.lines.map((line) => line['requestId'])).to.deep.equal([requestId, requestId]);
      expect(log.lines[0]).to.include({ error: expected, err: 'error' });
      expect(JSON.stringify(log.lines)).to.not.include(CANARY);
    });
  }

  for (const what of ['log', 'metrics callback']) {
    it(`does not affect responses if the ${what} throws`, async () => {
      let calls = 0;
      const fail = () => {
        calls++;
        throw new Error('the callback failed');
      };
      const options = what === 'log' ? { log: { info: fail, error: fail } } : { onRequestEnd: fail };
      const own = await start(options);
      expect([await send(own), await send(own, post('{')), await send(own, 'garbage\r\n\r\n')]).to.deep.equal([
        200, 40001, 40000,
      ]);
      expect(calls).to.equal(3);
      expect(await send(await start({ ...options, ...rejecting(failure()) }))).to.equal(50001);
    });
  }
});

const VALID_IDS = ['a', '7f1c2b9e-5a3d-4f60-9d8c-0123456789ab', 'Root:1-x', 'x.y_z-1:2', 'x'.repeat(128)];
const INVALID_IDS = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a<b>', 'a=b', 'a/b', 'a\tb', 'Gr\xfcn', '{"a":1}'];

describe('X-Request-Id', () => {
  const server = sharedServer();
  const readId = async (bytes: string | Uint8Array) => (await exchange(server().port, bytes))?.headers['x-request-id'];

  it('is generated for each request without a valid one', async () => {
    const invalid = INVALID_IDS.map((id) => post(newPlant(), { 'X-Request-Id': id }));
    const two = post(newPlant(), { 'X-Request-Id': 'a', 'x-request-id': 'b' });
    const ids: unknown[] = [];
    for (const bytes of [post(), post('{'), 'garbage\r\n\r\n', two, ...invalid]) ids.push(await readId(bytes));
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(new Set(ids)).to.have.property('size', ids.length);
  });

  it('is echoed if it is valid', async () => {
    for (const id of VALID_IDS) {
      expect(await readId(post(newPlant(), { 'X-Request-Id': id }))).to.equal(id);
      expect(await readId(post('{', { 'X-Request-Id': id })), 'on a rejection').to.equal(id);
    }
  });
});
