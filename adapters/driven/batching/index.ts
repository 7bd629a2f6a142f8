export { BatchingPlantRepository, type BatchLimits } from './batching-plant-repository.js';
