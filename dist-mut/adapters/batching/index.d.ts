export { BatchingPlantRepository, type BatchLimits } from './batching-plant-repository.js';
//# sourceMappingURL=index.d.ts.map