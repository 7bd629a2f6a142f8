import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Container } from 'inversify';
import { it } from 'mocha';
import pino from 'pino';
import { services } from '../../../../composition/container.js';
import { describeError } from '../../../../composition/logger.js';
import { PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import {
  create,
  HEADERS,
  newPlant,
  post,
  postHead,
  sharedService,
  startInTest,
  verdict,
  verdictsToEnd,
  waitUntilRead,
  withAdd,
} from '../support.js';

/** A value from a client, which must never be logged. */
const CANARY = 'canary7f3a';
const failure = () => new Error(`insert into plants values ('${CANARY}')`);

interface Line {
  readonly requestId?: string;
  readonly [field: string]: unknown;
}

/** Records log lines. */
class Log {
  readonly lines: Line[] = [];

  bind(): (container: Container) => void {
    const write = (line: string) => void this.lines.push(JSON.parse(line));
    const logger = pino({ level: 'trace', serializers: { err: describeError } }, { write });
    return (container) => container.rebind(services.Logger).toConstantValue(logger);
  }
}

const TELLTALE = { id: `${CANARY}`, name: CANARY, tag: CANARY, [CANARY]: CANARY };
const plant = () => newPlant({ name: CANARY, tag: CANARY, [CANARY]: CANARY });
const target = `POST /plants?${CANARY}=${CANARY}`;
const send = (body: string | Uint8Array, headers = {}) =>
  request(target, { ...HEADERS, Cookie: CANARY, ...headers }, body);

/** Requests full of canaries and their verdicts. */
const REQUESTS: Record<string, [bytes: string | Uint8Array, expected: number]> = {
  'a plant that is created': [send(plant()), 200],
  'an unknown path': [request(`POST /plant?${CANARY}`, HEADERS, plant()), 40401],
  'a target with a user': [request(`POST http://${CANARY}:${CANARY}@${CANARY}/plants?${CANARY}`, HEADERS, '{}'), 40401],
  'a target without a path': [request(`OPTIONS *?${CANARY}`, HEADERS), 40401],
  'another method': [request(`PUT /plants?${CANARY}`, HEADERS, plant()), 40501],
  'another authentication scheme': [send(plant(), { Authorization: `Basic ${CANARY}` }), 40101],
  'a wrong token': [send(plant(), { Authorization: `Bearer ${CANARY}` }), 40102],
  'an unknown Expect': [send(plant(), { Expect: CANARY }), 41701],
  'another media type': [send(plant(), { 'Content-Type': `text/${CANARY}` }), 41501],
  'an unknown Content-Encoding': [send(plant(), { 'Content-Encoding': CANARY }), 41501],
  'a body that does not match its Content-Encoding': [send(plant(), { 'Content-Encoding': 'gzip' }), 40001],
  'a body that is too large': [send(CANARY.repeat(200_000)), 41301],
  'a body that is too large after decompression': [
    send(gzipSync(CANARY.repeat(200_000)), { 'Content-Encoding': 'gzip' }),
    41301,
  ],
  'a body that is not JSON': [send(CANARY), 40001],
  'a body that is not UTF-8': [send(Buffer.from(`"${CANARY}\xff"`, 'latin1')), 40001],
  'a body that is not a NewPlant': [send(JSON.stringify(TELLTALE)), 40002],
  'a name that cannot be stored': [send(newPlant({ name: `${CANARY}\0` })), 40003],
  'an invalid X-Request-Id': [send(plant(), { 'X-Request-Id': `${CANARY} `.repeat(2) }), 200],
  'a bad chunk': [send(`${CANARY}\r\n`, { 'Transfer-Encoding': 'chunked' }), 40000],
  'a line of garbage': [`${CANARY} ${CANARY}\r\n\r\n`, 40000],
  'headers that are too large': [send('', { [CANARY]: CANARY.repeat(2000) }), 43101],
};

const BROKEN: Record<string, [rebind: (container: Container) => void, expected: number]> = {
  'a repository with an unexpected error': [withAdd(() => Promise.reject(failure())), 50001],
  'a repository that throws a string': [withAdd(() => Promise.reject(CANARY)), 50001],
  'a repository that is unavailable, because of an error': [
    withAdd(() => Promise.reject(new StorageUnavailable('no response', { cause: failure() }))),
    50301,
  ],
  'a repository that rejects the plant, because of an error': [
    withAdd(async () => [{ kind: 'rejected', error: new PlantRejected('rejected', { cause: failure() }) }]),
    50002,
  ],
  'a token verifier whose issuer is unavailable, because of an error': [
    (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({
        verify: () => Promise.reject(new TokenIssuerUnavailable('no response', { cause: failure() })),
      }),
    50304,
  ],
};

/** Contents of the log. */
httpSuite('the log', (start) => {
  const startOne = startInTest(start);
  const startLogging = async (rebind: (container: Container) => void = () => {}) => {
    const log = new Log();
    const bindLog = log.bind();
    const service = await startOne({}, (container) => {
      bindLog(container);
      rebind(container);
    });
    return { log, service };
  };

  it('has one line per request, with its id', async () => {
    const { log, service } = await startLogging();
    await create(service, newPlant(), { 'X-Request-Id': 'first' });
    await exchange(service.port, request('GET /nothing/here?x=y', { 'X-Request-Id': 'second' }));
    await create(service, '{', { 'X-Request-Id': 'third' });
    expect(log.lines.map(({ requestId, method, path, status }) => ({ requestId, method, path, status }))).to.deep.equal(
      [
        { requestId: 'first', method: 'POST', path: '/plants', status: 200 },
        { requestId: 'second', method: 'GET', path: '/nothing/here', status: 404 },
        { requestId: 'third', method: 'POST', path: '/plants', status: 400 },
      ],
    );
    for (const { durationMs } of log.lines) expect(durationMs).to.be.a('number').within(0, 10_000);
  });

  it('has one line per pipelined request', async () => {
    const { log, service } = await startLogging();
    await verdictsToEnd(service, Buffer.concat([post(), post('{'), post(newPlant(), { Connection: 'close' })]));
    expect(log.lines.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 400]);
  });

  it('has a line for a malformed request, with the id of the response', async () => {
    const { log, service } = await startLogging();
    const response = await exchange(service.port, 'garbage\r\n\r\n');
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]).to.include({ requestId: response?.headers['x-request-id'], status: 400, error: 40000 });
  });

  for (const coding of ['identity', 'gzip', 'br']) {
    it(`has a line without a status for a client that disconnects before its body in ${coding} arrives`, async () => {
      const { log, service } = await startLogging();
      const client = await RawClient.connect(service.port);
      const headers = { 'Content-Length': '100', 'Content-Encoding': coding, Expect: '100-continue' };
      await client.send(postHead(headers)).readResponse();
      client.socket.resetAndDestroy();
      const lines = () => log.lines.filter(({ method }) => method !== 'GET');
      while (lines().length === 0) await waitUntilRead(service);
      expect(lines()).to.have.length(1);
      expect(lines()[0]).to.include({ method: 'POST', path: '/plants', aborted: true });
      expect(lines()[0]).to.not.have.any.keys('status', 'error', 'err');
    });
  }

  const sharedLog = new Log();
  const service = sharedService((environment) => start(environment, sharedLog.bind()));
  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`contains no sensitive value of the request: ${what}`, async () => {
      sharedLog.lines.length = 0;
      const response = await exchange(service().port, bytes);
      expect(verdict(response)).to.equal(expected);
      expect(sharedLog.lines.map(({ requestId }) => requestId)).to.deep.equal([response?.headers['x-request-id']]);
      expect(JSON.stringify(sharedLog.lines)).to.not.include(CANARY);
      if (expected !== 200) expect(response?.body, 'the response').to.not.include(CANARY);
    });
  }

  it('contains nothing of stored plants', async () => {
    const { log, service } = await startLogging();
    const body = plant();
    const other = body.replaceAll(CANARY, `${CANARY}2`);
    const verdicts = [await create(service, body), await create(service, body), await create(service, other)].map(
      verdict,
    );
    expect(verdicts).to.deep.equal([200, 40902, 40901]);
    expect(JSON.stringify(log.lines)).to.not.include(CANARY);
  });

  for (const [what, [rebind, expected]] of Object.entries(BROKEN)) {
    it(`contains the error under the request id, but no values: ${what}`, async () => {
      const { log, service } = await startLogging(rebind);
      const response = await create(service, plant());
      expect(verdict(response)).to.equal(expected);
      const requestId = response?.headers['x-request-id'];
      expect(log.lines.map((line) => line.requestId)).to.deep.equal([requestId, requestId]);
      expect(log.lines[0]).to.include({ error: expected }).and.have.property('err');
      expect(JSON.stringify(log.lines)).to.not.include(CANARY);
      expect(response?.body).to.not.include(CANARY);
    });
  }
});

/** Responses if a callback throws. */
httpSuite('responses', (start) => {
  const startOne = startInTest(start);

  const environment = { MANAGEMENT_PORT: '0' };
  let calls = 0;
  const fail = () => {
    calls++;
    throw new Error('the callback failed');
  };
  const failing: Record<string, (container: Container) => void> = {
    log: (container) => container.rebind(services.Logger).toConstantValue(pino({ level: 'trace' }, { write: fail })),
    'metrics callback': (container) =>
      container.onActivation(
        services.Metrics,
        (_, metrics) => metrics && Object.assign(metrics, { onRequestEnd: fail }),
      ),
  };
  for (const [what, rebind] of Object.entries(failing)) {
    it(`are not affected if the ${what} throws`, async () => {
      calls = 0;
      const service = await startOne(environment, rebind);
      expect(verdict(await create(service))).to.equal(200);
      expect(verdict(await create(service, '{'))).to.equal(40001);
      expect(verdict(await exchange(service.port, 'garbage\r\n\r\n'))).to.equal(40000);
      expect(verdict(await create(service))).to.equal(200);
      expect(calls, 'calls that threw').to.equal(4);
    });

    it(`report an internal error even if the ${what} throws`, async () => {
      const service = await startOne(environment, (container) => {
        rebind(container);
        withAdd(() => Promise.reject(failure()))(container);
      });
      expect(verdict(await create(service))).to.equal(50001);
    });
  }
});
