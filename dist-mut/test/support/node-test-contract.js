/** The contract of PlantRepository under node:test; `ADAPTER=broken` has it run on an adapter that is wrong in one way. */
import { describe, it } from 'node:test';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { plantRepositoryContract } from '../contract/index.js';
class ClosesOnce extends MemoryPlantRepository {
    #isClosed = false;
    async close() {
        if (this.#isClosed)
            throw new Error('it is closed already');
        this.#isClosed = true;
        await super.close();
    }
}
const isBroken = process.env['ADAPTER'] === 'broken';
describe('The memory repository', () => {
    for (const { name, run } of plantRepositoryContract) {
        it(name, () => run({ open: async () => (isBroken ? new ClosesOnce() : new MemoryPlantRepository()) }));
    }
});
//# sourceMappingURL=node-test-contract.js.map