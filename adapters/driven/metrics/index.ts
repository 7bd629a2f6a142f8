export { type MetricSources, Metrics } from './metrics.js';
