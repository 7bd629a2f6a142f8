export type { FinishedRequest, Metrics } from '../adapters/driven/metrics/index.js';
export type { ManagementOptions, ManagementServer } from '../adapters/driving/management/index.js';
export { type Config, InvalidConfig, readConfig, type Setting, settings } from './config.js';
export { createContainer, plantStoreModule } from './container.js';
export type { Plugin } from './plugins.js';
export { services } from './services.js';
export type { OpenStorage, Storage } from './storages.js';
