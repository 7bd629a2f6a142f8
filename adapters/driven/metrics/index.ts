export { measureRequests } from './measure-requests.js';
export { MeasuredPlantRepository } from './measured-plant-repository.js';
export { createMetrics, type Labels, type Metrics } from './metrics.js';
