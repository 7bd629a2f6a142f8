export type { MetricSources, Metrics } from '../adapters/driven/metrics/index.js';
export type { ManagementOptions, ManagementServer } from '../adapters/driving/management/index.js';
export type { ImportOptions, ImportSummary, RejectedLine } from '../adapters/driving/ndjson/index.js';
export { exportPlants, importPlants } from '../adapters/driving/ndjson/index.js';
export { type Config, type Parser, readConfig, type Setting, settings, type TokensFile } from './config.js';
export { createContainer, plantStoreModule, services } from './container.js';
export { InvalidConfig } from './invalid-config.js';
export type { Plugin } from './plugins.js';
export type { OpenStorage, Storage, StorageOptions, StorageUrl } from './storage.js';
