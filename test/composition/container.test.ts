import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { readConfig } from '../../composition/config.js';
import { createContainer, services } from '../../composition/container.js';
import { toPlant } from '../support/plants.js';

describe('The container', () => {
  for (const [what, environment, expected] of [
    ['MAX_WRITES', { MAX_WRITES: '2' }, 2],
    ['the default of the storage', {}, 3],
  ] as const) {
    it(`limits concurrent writes to ${what}`, async () => {
      const container = createContainer(readConfig({ LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off', ...environment }));
      let writes = 0;
      let resume = () => {};
      const paused = new Promise<void>((resolve) => (resume = resolve));
      const add = async () => {
        writes++;
        await paused;
        return [];
      };
      const storage = Object.assign(new MemoryPlantRepository(), { add, maxWrites: 3 });
      container.rebind(services.Storage).toConstantValue(storage);
      const repository = await container.getAsync(services.PlantRepository);
      const calls: Promise<unknown>[] = [];
      for (const id of [1n, 2n, 3n, 4n]) {
        calls.push(repository.add([toPlant({ id, name: '' })]));
        await setImmediate();
      }
      expect(writes).to.equal(expected);
      resume();
      await Promise.all(calls);
    });
  }
});
