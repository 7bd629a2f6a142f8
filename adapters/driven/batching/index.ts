export { BatchingPlantWriter, type BatchLimits } from './batching-plant-writer.js';
