import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, serve } from '../support/client.js';
import { portOf } from '../support/port.js';
import { RawClient, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { CLIENTS, Load } from './load.js';

const LOAD_MS = 2000;
/** In an ordinary run the clients, which share this process, may be the bottleneck. */
const MAX_LATENCY_MS = 10_000;

let lastId = 1_000_000_000n;
const newPlant = () => ({ id: ++lastId, name: 'Monstera' });

async function expectCreates(port: number): Promise<void> {
  for (let times = 0; times < 20; times++) expect((await create(port, newPlant()))?.outcome).to.equal(200);
}

describe('Under overload, the service', () => {
  const folder = temporaryFolder();
  before(function () {
    skipUnless(this, process.platform === 'linux', 'a /proc file system');
  });

  it('accepts and rejects quickly if ten times too many clients do not wait for Retry-After, and recovers', async () => {
    const settings = { DATABASE_URL: 'sqlite:overload.db', MAX_IN_FLIGHT: `${CLIENTS}`, LOG_LEVEL: 'error' };
    const service = serve(folder, settings);
    const port = await service.port();
    const run = async (count: number) => {
      const loads = Array.from({ length: count }, () => new Load(newPlant));
      for (const load of loads) load.start(port);
      await setTimeout(LOAD_MS);
      await Promise.all(loads.map((load) => load.stop()));
      return loads.flatMap((load) => load.history);
    };
    const before = await run(1);
    const memoryBefore = service.memoryMib();
    const during = await run(10);
    await expectCreates(port);
    expect(new Set(during.map(({ outcome }) => outcome))).to.have.keys([200, 50302]);
    for (const expected of [200, 50302]) {
      const responses = during.filter(({ outcome }) => outcome === expected);
      const slow = responses.filter(({ sentAt, endedAt }) => endedAt - sentAt > MAX_LATENCY_MS);
      expect(slow.length / responses.length, `slow ${expected}`).to.be.below(0.01);
    }
    expect(service.memoryMib('VmHWM') - memoryBefore, 'MiB').to.be.below(150);
    const accepted = during.filter(({ outcome }) => outcome === 200);
    expect(accepted.length / before.length, 'of the throughput without overload').to.be.at.least(0.1);
  });

  /** A token whose key the service has to fetch from an issuer, which does not respond. */
  const unknownKey = `Bearer ${Buffer.from('{"alg":"RS256","kid":"a"}').toString('base64url')}.e30.c2ln`;
  const manyHeaders = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`X-${index}`, 'y']));
  for (const { title, clients, times, bytes } of [
    {
      title: 'keeps a heap of 256 MiB while clients pipeline requests with an unknown key',
      clients: 100,
      times: 199,
      bytes: request('POST /plants', { Authorization: unknownKey, ...manyHeaders }, '{}'),
    },
    {
      title: 'keeps a heap of 256 MiB while clients pipeline requests for large responses, and read none',
      clients: 500,
      times: 100,
      bytes: request('GET /docs/swagger-ui-bundle.js'),
    },
  ]) {
    it(title, async () => {
      const issuer = createServer().listen(0, '127.0.0.1');
      await once(issuer, 'listening');
      const service = serve(folder, {
        DATABASE_URL: 'memory:',
        LOG_LEVEL: 'error',
        NODE_OPTIONS: '--max-old-space-size=256',
        JWT_ISSUER: 'https://issuer.example',
        JWT_AUDIENCE: 'plants',
        JWT_JWKS_URL: `http://127.0.0.1:${portOf(issuer)}/`,
      });
      const port = await service.port();
      const pipelined = Buffer.alloc(bytes.length * times, bytes);
      const flooding = await Promise.all(Array.from({ length: clients }, () => RawClient.connect(port)));
      for (const client of flooding) client.send(pipelined).socket.pause();
      await expectCreates(port);
      expect(service.memoryMib('VmHWM'), 'MiB').to.be.below(300);
      for (const client of flooding) client.close();
      await expectCreates(port);
      issuer.close();
    });
  }
});
