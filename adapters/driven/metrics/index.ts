export { type Load, Metrics } from './metrics.js';
