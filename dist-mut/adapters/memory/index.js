export { MemoryPlantRepository } from './memory-plant-repository.js';
//# sourceMappingURL=index.js.map