export type { StorageLifecycle, StorageStatistics } from '../monitoring/index.js';
export { DriverError, type Engine, type ErrorClass, type PlantRow } from './engine.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export type { SchemaState } from './migrations.js';
export { mysql, mysqlDatabase } from './mysql.js';
export { type Database, type KnexStorage, openRepository, readPendingMigrations } from './open.js';
export { postgres, postgresDatabase } from './postgres.js';
export type { DatabaseServerOptions } from './server.js';
export { type SqliteOptions, sqlite, sqliteDatabase } from './sqlite.js';
