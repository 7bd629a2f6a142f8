export { MissingDriver, toStorageUnavailable } from './driver-errors.js';
export { joinTransaction } from './join-transaction.js';
export * from './knex-storage.js';
export type { SchemaState } from './schema.js';
export { InvalidServerUrl } from './server-url.js';
