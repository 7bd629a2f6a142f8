export type { Diagnosis, Engine, PlantRow } from './engine.js';
export { StorageFailure } from './failure.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export { mysql, mysqlDatabase } from './mysql.js';
export { type Database, openRepository, pendingMigrations, type ServerOptions } from './open.js';
export { postgres, postgresDatabase } from './postgres.js';
export { type SqliteOptions, sqlite, sqliteDatabase } from './sqlite.js';
