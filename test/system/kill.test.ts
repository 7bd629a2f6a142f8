import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { mariadbEngine, mysqlEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { CLIENTS, Load } from './load.js';

/** Maximum time from the first response to the kill. */
const MAX_LIFETIME_MS = 150;

for (const [engine, times] of [
  [sqliteEngine, 10],
  [postgresEngine, 3],
  [mariadbEngine, 3],
  [mysqlEngine, 3],
] as const) {
  describe(`Exactly the acknowledged plants are stored on ${engine.name}`, () => {
    const folder = temporaryFolder();
    const stores = engine.stores();

    it(`after kill -9 of two services at ${times} random moments under load from ${CLIENTS} clients`, async function () {
      this.timeout(120_000 + times * 5000);
      const store = await stores.create();
      const start = () => serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'warn' });
      const load = new Load();
      for (let time = 0; time < times; time++) {
        const services = [start(), start()];
        const ports = await Promise.all(services.map((service) => service.port()));
        const retried = load.retryUnknown(ports[0] ?? 0);
        load.start(...ports);
        await load.waitForOutcomes(1, 200);
        await retried;
        await setTimeout(Math.random() * MAX_LIFETIME_MS);
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
