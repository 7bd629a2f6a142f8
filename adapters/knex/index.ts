export type { Diagnosis, Engine } from './engine.js';
export { StorageFailure } from './failure.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export { type MigrationPlan, migrate, planMigration } from './migrations.js';
export { mysql, openMysql } from './mysql.js';
export type { ServerOptions } from './open.js';
export { openPostgres, postgres } from './postgres.js';
export { openSqlite, type SqliteOptions, sqlite } from './sqlite.js';
