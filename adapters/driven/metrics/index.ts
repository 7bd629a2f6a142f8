export { MeasuredPlantRepository } from './measured-plant-repository.js';
export { DURATION_BUCKETS, type Labels, type Metrics, PrometheusMetrics } from './metrics.js';
