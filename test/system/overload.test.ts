import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, RawClient, request, serve } from '../support/client.js';
import { temporaryFolder } from '../support/temporary.js';
import { CLIENTS, Load } from './load.js';

const LOAD_MS = 2000;

let lastId = 1_000_000_000n;
const newPlant = () => ({ id: ++lastId, name: 'Monstera' });

async function expectCreates(port: number): Promise<void> {
  for (let times = 0; times < 20; times++) expect((await create(port, newPlant()))?.outcome).to.equal(200);
}

describe('Under overload, the service', () => {
  const folder = temporaryFolder();

  it('accepts some creates and rejects others if ten times too many clients do not wait for Retry-After, and recovers', async () => {
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
    expect(service.memoryMib('VmHWM') - memoryBefore, 'MiB').to.be.below(150);
    const accepted = during.filter(({ outcome }) => outcome === 200);
    expect(accepted.length / before.length, 'of the throughput without overload').to.be.at.least(0.1);
  });

  it('keeps a heap of 256 MiB while clients pipeline requests for large responses, and read none', async () => {
    const settings = { DATABASE_URL: 'memory:', LOG_LEVEL: 'error', NODE_OPTIONS: '--max-old-space-size=256' };
    const service = serve(folder, settings);
    const port = await service.port();
    const pipelined = Buffer.concat(Array(100).fill(request('GET /docs/swagger-ui-bundle.js')));
    const flooding = await Promise.all(Array.from({ length: 500 }, () => RawClient.connect(port)));
    for (const client of flooding) client.send(pipelined).socket.pause();
    await expectCreates(port);
    expect(service.memoryMib('VmHWM'), 'MiB').to.be.below(300);
    for (const client of flooding) client.close();
    await expectCreates(port);
  });
});
