import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS, createRequest, serve } from '../support/client.js';
import { portOf } from '../support/port.js';
import { RawClient, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { memoryMib } from './process-resources.js';
import { testOrSoak } from './soak.js';
import { quantile } from './statistics.js';

const SLOW_CLIENTS = testOrSoak(200, 1000);
const BYTE_EVERY_MS = testOrSoak(200, 1000);
const REQUEST_TIMEOUT_MS = testOrSoak(4000, 30_000);
const KEEP_ALIVE_TIMEOUT_MS = testOrSoak(1500, 10_000);
/** Tolerance for a busy machine, but less than Node's default interval of 30 s between checks. */
const GRACE_MS = 20_000;
/** Number of creates that are timed while clients are slow, and their maximum p99 latency on a busy machine. */
const TIMED_CREATES = testOrSoak(200, 2000);
const MAX_P99_MS = testOrSoak(10_000, 20);

const slowHead = request('POST /plants', { ...CREATE_HEADERS, 'Content-Length': '4096' });

/** A token whose key the service has to fetch from an issuer, which does not respond. */
const UNKNOWN_KEY = `Bearer ${Buffer.from('{"alg":"RS256","kid":"a"}').toString('base64url')}.e30.c2ln`;
const manyHeaders = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`X-${index}`, 'y']));
const unknownKey = request('POST /plants', { Authorization: UNKNOWN_KEY });
const unknownKeyAndHeaders = request('POST /plants', { Authorization: UNKNOWN_KEY, ...manyHeaders }, '{}');
const longHeaders = createRequest({ id: 0n, name: 'Monstera' }, { X: 'x'.repeat(14_000) });

/** Clients that pipeline a request many times and read no response. */
const FLOODS = {
  'requests with many headers and an unknown key': { clients: 100, times: 199, bytes: unknownKeyAndHeaders },
  'small requests with an unknown key': { clients: 500, times: 2000, bytes: unknownKey },
  'creates with large headers': { clients: 300, times: 199, bytes: longHeaders },
  'requests for large responses': { clients: 500, times: 100, bytes: request('GET /docs/swagger-ui-bundle.js') },
};

describe('Slow clients', () => {
  const folder = temporaryFolder();
  let lastId = 0n;
  before(function () {
    skipUnless(this, process.platform === 'linux', 'a /proc file system');
  });

  const start = (environment: Readonly<Record<string, string>> = {}) =>
    serve(folder, {
      DATABASE_URL: 'memory:',
      LOG_LEVEL: 'error',
      HEADERS_TIMEOUT: `${REQUEST_TIMEOUT_MS}ms`,
      REQUEST_TIMEOUT: `${REQUEST_TIMEOUT_MS}ms`,
      KEEP_ALIVE_TIMEOUT: `${KEEP_ALIVE_TIMEOUT_MS}ms`,
      ...environment,
    });

  /** Sends creates one after another over one connection and returns their durations in milliseconds. */
  async function timeCreates(port: number, count = 1): Promise<number[]> {
    const client = await RawClient.connect(port);
    const times: number[] = [];
    while (times.length < count) {
      const sentAt = performance.now();
      const plant = { id: ++lastId, name: 'quick' };
      expect((await client.send(createRequest(plant)).readResponse())?.outcome).to.equal(200);
      times.push(performance.now() - sentAt);
    }
    client.close();
    await client.ended();
    return times;
  }

  it(`sending a body byte by byte get 40801 after the timeout without slowing others down (${SLOW_CLIENTS} clients)`, async () => {
    const port = await start().port();
    const startedAt = performance.now();
    const slow = Array.from({ length: SLOW_CLIENTS }, async () => {
      const client = (await RawClient.connect(port)).send(slowHead);
      const dripping = setInterval(() => client.send('x'), BYTE_EVERY_MS);
      const response = await client.readResponse();
      clearInterval(dripping);
      expect(performance.now() - startedAt, 'ms').to.be.within(REQUEST_TIMEOUT_MS - 100, REQUEST_TIMEOUT_MS + GRACE_MS);
      client.socket.end();
      await client.ended();
      return `${response?.outcome} ${response?.headers['connection']}`;
    });
    expect(quantile(await timeCreates(port, TIMED_CREATES), 0.99), 'ms').to.be.below(MAX_P99_MS);
    expect(new Set(await Promise.all(slow))).to.deep.equal(new Set(['40801 close']));
  });

  for (const [what, { clients, times, bytes }] of Object.entries(FLOODS)) {
    it(`that pipeline ${what} leave a service with a heap of 256 MiB available (${clients} clients)`, async () => {
      const issuer = createServer().listen(0, '127.0.0.1');
      await once(issuer, 'listening');
      const service = start({
        KEEP_ALIVE_TIMEOUT: '60s',
        NODE_OPTIONS: '--max-old-space-size=256',
        JWT_ISSUER: 'https://issuer.example',
        JWT_AUDIENCE: 'plants',
        JWT_JWKS_URL: `http://127.0.0.1:${portOf(issuer)}/`,
      });
      const port = await service.port();
      const flood = Buffer.alloc(bytes.length * times, bytes);
      const floods = Array.from({ length: clients }, async () => {
        const client = await RawClient.connect(port);
        client.socket.pause();
        return client.send(flood);
      });
      const flooding = await Promise.all(floods);
      await timeCreates(port);
      expect(memoryMib(service, 'VmHWM'), 'MiB').to.be.below(300);
      for (const client of flooding) client.close();
      await timeCreates(port);
      issuer.close();
      expect(await service.stop()).to.equal(0);
    });
  }
});
