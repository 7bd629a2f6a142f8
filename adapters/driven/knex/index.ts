export { MissingDriver } from './driver-errors.js';
export { joinTransaction } from './join-transaction.js';
export type { KnexStorage } from './knex-storage.js';
export {
  type DatabaseOptions,
  openMysql,
  openPostgres,
  openSqlite,
  type ServerOptions,
  type SqliteOptions,
} from './open.js';
export type { SchemaState } from './schema.js';
export { InvalidServerUrl } from './server-url.js';
