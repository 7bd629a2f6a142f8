import { setImmediate } from 'node:timers/promises';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { expect } from 'chai';
import { it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { toPlant } from '../support/plants.js';

it('The container limits concurrent writes to the number that the storage declares', async () => {
  const container = await createContainer(readConfig({ STORAGE_TIMEOUT: '100ms' }));
  let writes = 0;
  const add = () => {
    writes++;
    return new Promise<never>(() => {});
  };
  const storage = Object.assign(new MemoryPlantRepository(), { add, maxWrites: 3 });
  container.rebind(services.Storage).toConstantValue(storage);
  const writer = await container.getAsync(services.PlantWriter);
  for (const id of [1n, 2n, 3n, 4n]) {
    void writer.add([toPlant({ id, name: '' })]).catch(() => {});
    await setImmediate();
  }
  expect(writes).to.equal(3);
});
