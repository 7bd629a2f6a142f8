export type { Engine } from './engine.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export { mysql, mysqlDatabase } from './mysql.js';
export { type Database, type DatabaseOptions, type KnexStorage, openRepository } from './open.js';
export { postgres, postgresDatabase } from './postgres.js';
export type { DatabaseServerOptions } from './server.js';
export { type SqliteOptions, sqlite, sqliteDatabase } from './sqlite.js';
