export { countDroppedLines, createLogger, describeError } from './logger.js';
