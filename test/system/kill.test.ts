import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { mariadbEngine, mysqlEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { Load } from './load.js';

/** Maximum number of creates before a kill. */
const MAX_CREATES = 500;

describe('Two services', () => {
  for (const engine of [sqliteEngine, postgresEngine, mariadbEngine, mysqlEngine]) {
    describe(engine.name, () => {
      const folder = temporaryFolder();
      const stores = engine.stores();

      it('stores exactly the acknowledged plants after kill -9 of two services under load, at random moments', async () => {
        const store = await stores.create();
        const start = () => serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'warn' });
        const load = new Load();
        for (let times = engine === sqliteEngine ? 10 : 3; times > 0; times--) {
          const services = [start(), start()];
          const ports = await Promise.all(services.map((service) => service.port()));
          const retried = load.retryUnknown(ports[0] ?? 0);
          load.start(...ports);
          await load.waitForOutcomes(randomInt(1, MAX_CREATES), 200);
          await retried;
          await Promise.all(services.map((service) => service.kill('SIGKILL').exited()));
          await load.stop();
        }
        const service = start();
        await load.expectNothingLost(await service.port(), store);
        expect(load.outcomes()).to.have.members([...conclusive, undefined]);
        expect(await service.stop()).to.equal(0);
      });
    });
  }
});
