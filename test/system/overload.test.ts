import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { chunked } from '#contract/http/service.js';
import { CREATE_HEADERS, create, createRequest, serve } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { CLIENTS, Load } from './load.js';

const LOAD_MS = 2000;
/** Maximum latency of 99 % of the creates. In an ordinary run the clients, which share this process, may be the bottleneck. */
const MAX_LATENCY_MS = 10_000;
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

let lastId = 1_000_000_000n;
const newPlant = () => ({ id: ++lastId, name: 'Monstera' });

/** Runs loads for two seconds, and returns what happened. Their clients do not wait for Retry-After. */
async function runLoads(port: number, count: number) {
  const loads = Array.from({ length: count }, () => new Load(newPlant));
  for (const load of loads) load.start(port);
  await setTimeout(LOAD_MS);
  await Promise.all(loads.map((load) => load.stop()));
  return loads.flatMap((load) => load.history);
}

async function expectCreates(port: number): Promise<void> {
  for (let times = 0; times < 20; times++) expect((await create(port, newPlant()))?.outcome).to.equal(200);
}

/** Opens connections that each send these bytes. */
async function flood(port: number, count: number, bytes: Buffer): Promise<RawClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(port)));
  return clients.map((client) => client.send(bytes));
}

describe('Under overload, the service', () => {
  const folder = temporaryFolder();
  before(function () {
    skipUnless(this, process.platform === 'linux', 'a /proc file system');
  });
  const start = (environment: Readonly<Record<string, string>>) =>
    serve(folder, { DATABASE_URL: 'memory:', LOG_LEVEL: 'error', ...environment });

  it('accepts and rejects quickly if ten times too many clients do not wait for Retry-After, and recovers', async () => {
    const service = start({ MAX_IN_FLIGHT: `${CLIENTS}`, DATABASE_URL: 'sqlite:overload.db' });
    const port = await service.port();
    const peakBefore = (await runLoads(port, 1)).length;
    const memoryBefore = service.memoryMib();

    const history = await runLoads(port, 10);
    await expectCreates(port);
    const accepted = history.filter(({ outcome }) => outcome === 200);
    const rejected = history.filter(({ outcome }) => outcome === 50302);
    expect(accepted.length + rejected.length).to.equal(history.length);
    for (const responses of [accepted, rejected]) {
      const slow = responses.filter(({ sentAt, endedAt }) => endedAt - sentAt > MAX_LATENCY_MS);
      expect(slow.length / responses.length).to.be.below(0.01);
    }
    expect(service.memoryMib('VmHWM') - memoryBefore, 'MiB').to.be.below(150);
    // The rest of the machine may have become busier or idler meanwhile.
    const peak = Math.min(peakBefore, (await runLoads(port, 1)).length);
    expect(accepted.length / peak, 'of the throughput without overload').to.be.at.least(0.1);
  });

  it('accepts chunked creates beside 64 other clients with the limits of the container', async () => {
    const compose = readFileSync(inRepository('docs/operate/compose.yaml'), 'utf8');
    const service = start({ MAX_IN_FLIGHT_BYTES: /MAX_IN_FLIGHT_BYTES: (\w+)/.exec(compose)?.[1] ?? '' });
    const port = await service.port();
    const load = await Load.on(port, CLIENTS);
    for (let times = 0; times < 100; times++) {
      const chunks = chunked(`{"id":${++lastId},"name":"Monstera"}`);
      const bytes = request('POST /plants', { ...CREATE_HEADERS, 'Transfer-Encoding': 'chunked' }, chunks);
      expect((await exchange(port, bytes))?.outcome).to.equal(200);
    }
    await load.stop();
  });

  it('rejects bodies of one byte per chunk, which would end a heap of 256 MiB', async () => {
    const service = start(SMALL_HEAP);
    const port = await service.port();
    const chunks = `${'1\r\n \r\n'.repeat(1024 ** 2)}0\r\n\r\n`;
    const bytes = request('POST /plants', { ...CREATE_HEADERS, 'Transfer-Encoding': 'chunked' }, chunks);
    const clients = await flood(port, 20, bytes);
    expect((await exchange(port, bytes))?.outcome).to.equal(41301);
    expect(service.memoryMib('VmHWM'), 'MiB').to.be.below(300);
    for (const client of clients) client.close();
    await expectCreates(port);
  });

  /** A token whose key the service has to fetch from an issuer, which does not respond. */
  const unknownKey = `Bearer ${Buffer.from('{"alg":"RS256","kid":"a"}').toString('base64url')}.e30.c2ln`;
  const manyHeaders = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`X-${index}`, 'y']));
  describe('stays available with a heap of 256 MiB while clients read no response and pipeline requests', () => {
    for (const [title, clients, times, bytes] of [
      ['with an unknown key', 100, 199, request('POST /plants', { Authorization: unknownKey, ...manyHeaders }, '{}')],
      ['with large headers', 300, 199, createRequest({ id: 0n, name: 'Monstera' }, { X: 'x'.repeat(14_000) })],
      ['with large responses', 500, 100, request('GET /docs/swagger-ui-bundle.js')],
    ] as const) {
      it(title, async () => {
        const issuer = createServer().listen(0, '127.0.0.1');
        await once(issuer, 'listening');
        const jwt = { JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'plants' };
        const service = start({ ...SMALL_HEAP, ...jwt, JWT_JWKS_URL: `http://127.0.0.1:${portOf(issuer)}/` });
        const port = await service.port();
        const flooding = await flood(port, clients, Buffer.alloc(bytes.length * times, bytes));
        for (const client of flooding) client.socket.pause();
        await expectCreates(port);
        expect(service.memoryMib('VmHWM'), 'MiB').to.be.below(300);
        for (const client of flooding) client.close();
        await expectCreates(port);
        issuer.close();
      });
    }
  });
});
