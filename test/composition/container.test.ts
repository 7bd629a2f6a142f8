import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { readConfig } from '../../composition/config.js';
import { createContainer, services } from '../../composition/container.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';

describe('The container', () => {
  /** Returns the repository of a service on a storage whose writes wait until `resume`. */
  const pauseWrites = async (environment: Readonly<Record<string, string>>) => {
    const container = createContainer(readConfig({ LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off', ...environment }));
    let resume = () => {};
    const paused = new Promise<void>((resolve) => (resume = resolve));
    const state = { writes: 0, resume };
    const add = async () => {
      state.writes++;
      await paused;
      return [];
    };
    container
      .rebind(services.Storage)
      .toConstantValue(Object.assign(new MemoryPlantRepository(), { add, maxWrites: 3 }));
    return { state, repository: await container.getAsync(services.PlantRepository) };
  };

  for (const [what, environment, expected] of [
    ['MAX_WRITES', { MAX_WRITES: '2' }, 2],
    ['the default of the storage', {}, 3],
  ] as const) {
    it(`limits concurrent writes to ${what}`, async () => {
      const { state, repository } = await pauseWrites(environment);
      const calls: Promise<unknown>[] = [];
      for (const id of [1n, 2n, 3n, 4n]) {
        calls.push(repository.add([toPlant({ id, name: '' })]));
        await setImmediate();
      }
      expect(state.writes).to.equal(expected);
      state.resume();
      await Promise.all(calls);
    });
  }

  for (const environment of [{ MAX_IN_FLIGHT: '30' }, { BODY_LIMIT: '90b', MAX_IN_FLIGHT_BYTES: '90b' }]) {
    it(`queues plants up to ${JSON.stringify(environment)}`, async () => {
      const { state, repository } = await pauseWrites(environment);
      const add = (id: number) => repository.add([toPlant({ id: BigInt(id), name: 'abc' })]);
      const calls = Array.from({ length: 30 }, (_, id) => add(id));
      expect(await catchError(add(30))).to.have.property('message', 'too many pending plants');
      state.resume();
      await Promise.all(calls);
    });
  }
});
