export type { Engine, PlantRow } from './engine.js';
export { StorageFailure } from './failure.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export { migrate } from './migrations.js';
export { openSqlite, type SqliteOptions, sqlite } from './sqlite.js';
