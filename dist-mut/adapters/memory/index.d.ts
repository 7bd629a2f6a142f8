export { MemoryPlantRepository } from './memory-plant-repository.js';
//# sourceMappingURL=index.d.ts.map