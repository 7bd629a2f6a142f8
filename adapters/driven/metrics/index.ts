export { DURATION_BUCKETS, MeasuredPlantWriter } from './measured-plant-writer.js';
