import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { plantRepositoryContract } from '@plant-store/contract';
import { describe } from 'mocha';
import { runContract } from '../../../support/run-contract.js';

describe('MemoryPlantRepository', () => {
  runContract(plantRepositoryContract({ open: async () => new MemoryPlantRepository() }));
});
