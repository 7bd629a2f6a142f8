import { setImmediate } from 'node:timers/promises';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { createContainer } from '../../composition/container.js';
import { services } from '../../composition/services.js';
import { toPlant } from '../support/plants.js';

const create = (environment: Readonly<Record<string, string>>) =>
  createContainer(readConfig({ LOG_LEVEL: 'silent', ...environment }));

describe('The container', () => {
  it('limits concurrent writes to the number that the storage declares', async () => {
    const container = await create({ STORAGE_TIMEOUT: '100ms' });
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
    const [one, other] = [await create({}), await create({})];
    Object.assign((await one.getAsync(services.Description)).paths, { '/pots': {} });
    expect((await one.getAsync(services.Description)).paths).to.have.property('/pots');
    expect((await other.getAsync(services.Description)).paths).not.to.have.property('/pots');
  });

  it('closes what decorates the storage', async () => {
    const container = await create({ DATABASE_URL: 'memory:' });
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
