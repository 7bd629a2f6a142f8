import { setImmediate } from 'node:timers/promises';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { toPlant } from '../support/plants.js';

describe('The container', () => {
  const create = () => createContainer(readConfig({ DATABASE_URL: 'memory:', STORAGE_TIMEOUT: '100ms' }));

  it('limits concurrent writes to the number that the storage declares', async () => {
    const container = await create();
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

  it('has a description of its own, which may be changed', async () => {
    const description = await (await create()).getAsync(services.Description);
    Object.assign(description.paths, { '/pots': {} });
    const other = await (await create()).getAsync(services.Description);
    expect(other.paths).not.to.have.property('/pots');
  });

  it('closes what decorates the storage', async () => {
    const container = await create();
    let isClosed = false;
    const close = async () => {
      isClosed = true;
    };
    container.onActivation(services.Storage, (_, storage) => Object.assign(Object.create(storage), { close }));
    await container.getAsync(services.Storage);
    await container.close();
    expect(isClosed).to.equal(true);
  });
});
