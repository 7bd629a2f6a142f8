export { type FinishedRequest, Metrics } from './metrics.js';
