/** Runs the PlantRepository contract under node:test; `ADAPTER=broken` selects a repository that closes only once. */
import { describe, it } from 'node:test';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { plantRepositoryContract } from '../contract/index.js';

class ClosesOnce extends MemoryPlantRepository {
  #isClosed = false;

  override async close(): Promise<void> {
    if (this.#isClosed) throw new Error('already closed');
    this.#isClosed = true;
    await super.close();
  }
}

const isBroken = process.env['ADAPTER'] === 'broken';

describe('The memory repository', () => {
  const { cases } = plantRepositoryContract({
    open: async () => (isBroken ? new ClosesOnce() : new MemoryPlantRepository()),
  });
  for (const { name, timeoutMs, run } of cases) it(name, { timeout: timeoutMs }, run);
});
