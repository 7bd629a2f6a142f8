import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createRequest, serve, type TestPlant } from '../support/client.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { simulatePowerCuts, traceCommand } from './power-cut.js';
import { testOrSoak } from './soak.js';
import { skipUnlessTraceable } from './system-calls.js';

/** Expected number of power cuts. */
const CUTS = testOrSoak(10, 200);
/** Number and size of the plants, large enough for several checkpoints of the write-ahead log. */
const PLANTS = 250;
const NAME_LENGTH = 20_000;
const CLIENTS = 8;

describe('A power cut while a response is sent', () => {
  const folder = realpathSync(temporaryFolder());
  const plants = new Map<bigint, TestPlant>();
  for (let id = 1n; id <= PLANTS; id++) plants.set(id, { id, name: `${id} `.repeat(NAME_LENGTH / 4) });

  it('loses no acknowledged plant and does not corrupt the SQLite file', async function () {
    skipUnlessTraceable(this);
    this.timeout(120_000 + CUTS * 1000);
    const [trace, database] = [join(folder, 'trace'), join(folder, 'plants.db')];
    const environment = { DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal' };
    const service = serve(folder, environment, traceCommand(trace));
    const port = await service.port();
    const unsent = plants.values();
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(port);
      for (const plant of unsent) {
        const response = await client.send(createRequest(plant, { 'X-Request-Id': `${plant.id}` })).readResponse();
        expect(response?.outcome).to.equal(200);
      }
    });
    await Promise.all(clients);
    await service.killGroup('SIGTERM').exited();
    const losses = await simulatePowerCuts(trace, database, plants, folder, CUTS);
    expect(losses).to.include({ lost: 0, unexpected: 0 });
    expect(losses.integrityErrors).to.deep.equal([]);
    expect(losses.checkpoints).to.be.above(1);
  });
});
