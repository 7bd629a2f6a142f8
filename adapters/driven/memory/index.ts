export { MemoryPlantRepository } from './memory-plant-repository.js';
