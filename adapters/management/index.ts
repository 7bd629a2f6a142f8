export { type ManagementOptions, ManagementServer } from './management-server.js';
export { type Answered, type Load, Metrics } from './metrics.js';
