import { mysqlDatabase, postgresDatabase, sqliteDatabase } from '../adapters/knex/index.js';
/** The SQL database of the configuration, if it has one. */
export function databaseOf({ database, storageTimeoutMs: timeoutMs }, warn) {
    switch (database.kind) {
        case 'memory':
            return undefined;
        case 'sqlite':
            return sqliteDatabase({ path: database.path, timeoutMs });
        case 'postgres':
            return postgresDatabase({ url: database.url, timeoutMs, warn });
        case 'mysql':
            return mysqlDatabase({ url: database.url, timeoutMs, warn });
    }
}
//# sourceMappingURL=database.js.map