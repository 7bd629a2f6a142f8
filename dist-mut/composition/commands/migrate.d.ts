import type { Config } from '../config.js';
/**
 * Brings the schema up to date, or says what would be done. Resolves to the exit code of the process.
 *
 * @param dryRun do nothing to the database
 */
export declare function migrateSchema(config: Config, dryRun: boolean): Promise<number>;
//# sourceMappingURL=migrate.d.ts.map