import { type Database } from '../adapters/knex/index.js';
import type { Config } from './config.js';
/** The SQL database of the configuration, if it has one. */
export declare function databaseOf({ database, storageTimeoutMs: timeoutMs }: Config, warn?: (warning: string) => void): Database | undefined;
//# sourceMappingURL=database.d.ts.map