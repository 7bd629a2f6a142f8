export { type Config, InvalidConfig, readConfig, settings } from './config.js';
export { createContainer, plantStoreModule, services } from './container.js';
//# sourceMappingURL=index.d.ts.map