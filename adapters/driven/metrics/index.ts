export { MeasuredPlantWriter } from './measured-plant-writer.js';
