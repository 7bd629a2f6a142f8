export type { Answered, Load, ManagementOptions, ManagementServer, Metrics } from '../adapters/management/index.js';
export { type Config, InvalidConfig, readConfig, type Settings, settings } from './config.js';
export { createContainer, plantStoreModule, services } from './container.js';
export type { TokensFile } from './tokens.js';
export type { DatabaseUrl } from './urls.js';
