export { StorageFailure } from './failure.js';
export { KnexPlantRepository } from './knex-plant-repository.js';
export { mysql, mysqlDatabase } from './mysql.js';
export { openRepository, pendingMigrations } from './open.js';
export { postgres, postgresDatabase } from './postgres.js';
export { sqlite, sqliteDatabase } from './sqlite.js';
//# sourceMappingURL=index.js.map