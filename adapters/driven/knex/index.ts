export {
  type DatabaseOptions,
  type KnexStorage,
  openMysql,
  openPostgres,
  openSqlite,
  type ServerOptions,
  type SqliteOptions,
} from './open.js';
export { InvalidServerUrl } from './server-url.js';
export { joinTransaction } from './transaction.js';
