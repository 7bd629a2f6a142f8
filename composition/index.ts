export type { ManagementOptions, ManagementServer } from '../adapters/management/index.js';
export type { Load, Metrics } from '../adapters/metrics/index.js';
export type { ImportOptions, ImportSummary, RejectedLine } from '../adapters/ndjson/index.js';
export { exportPlants, importPlants } from '../adapters/ndjson/index.js';
export { type Config, InvalidConfig, type Parser, readConfig, type Setting, settings } from './config.js';
export { createContainer, plantStoreModule, services } from './container.js';
export type { Plugin } from './plugins.js';
export type { TokensFile } from './tokens.js';
export type { DatabaseUrl } from './urls.js';
