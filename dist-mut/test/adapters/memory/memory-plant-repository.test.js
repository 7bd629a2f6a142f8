import { describe } from 'mocha';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { plantRepositoryContract } from '../../contract/index.js';
import { runContract } from '../../support/run-contract.js';
describe('The memory repository', () => {
    runContract(plantRepositoryContract, { open: async () => new MemoryPlantRepository() });
});
//# sourceMappingURL=memory-plant-repository.test.js.map