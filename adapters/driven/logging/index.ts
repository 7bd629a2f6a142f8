export { createLogger, describeError, logStatistics } from './logger.js';
