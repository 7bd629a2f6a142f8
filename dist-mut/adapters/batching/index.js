export { BatchingPlantRepository } from './batching-plant-repository.js';
//# sourceMappingURL=index.js.map