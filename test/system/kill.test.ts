import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { mariadbEngine, postgresEngine, sqliteEngine, type TestStore } from '../support/engines.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { randomNumbers } from '../support/random.js';
import { testOrSoak } from '../support/soak.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { CLIENTS, Load } from './load.js';

/** Maximum time from the first response to the kill. */
const MAX_LIFETIME_MS = 150;

describe('Exactly the acknowledged plants are stored', () => {
  endProgramsAfterEach();
  const random = randomNumbers();

  for (const { engine, times } of [
    { engine: sqliteEngine, times: testOrSoak(30, 300) },
    { engine: postgresEngine, times: testOrSoak(10, 100) },
    { engine: mariadbEngine, times: testOrSoak(10, 100) },
  ]) {
    describe(`on ${engine.name}`, () => {
      const folder = temporaryFolder();
      const stores = engine.stores();
      const load = new Load();
      let store: TestStore;
      before(async () => {
        store = await stores.create();
      });

      it(`after kill -9 at ${times} random moments under load from ${CLIENTS} clients`, async function () {
        this.timeout(120_000 + times * 5000);
        const environment = { DATABASE_URL: store.url, LOG_LEVEL: 'warn' };
        for (let time = 0; time < times; time++) {
          const service = serve(folder, environment);
          const port = await service.port();
          const retried = load.retryUnknown(port);
          load.start(port);
          await load.waitForOutcomes(1, 200);
          await retried;
          await setTimeout(random() * MAX_LIFETIME_MS);
          service.kill('SIGKILL');
          await load.ended();
          await service.exited();
        }
        const service = serve(folder, environment);
        await load.retryUnknown(await service.port());
        expect(load.outcomes()).to.have.members([...conclusive, undefined]);
        load.expectNoViolations(await store.readPlants());
        expect(await service.kill('SIGTERM').exited()).to.equal(0);
        expect(await store.checkIntegrity()).to.deep.equal([]);
      });
    });
  }
});
