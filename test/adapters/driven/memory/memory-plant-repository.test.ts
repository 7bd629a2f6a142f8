import { describe } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { runContract } from '../../../support/run-contract.js';

describe('MemoryPlantRepository', () => {
  runContract(plantRepositoryContract({ open: async () => new MemoryPlantRepository() }));
});
