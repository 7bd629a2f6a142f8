import { openRepository, pendingMigrations } from '../../adapters/knex/index.js';
import { databaseOf } from '../database.js';
/**
 * Brings the schema up to date, or says what would be done. Resolves to the exit code of the process.
 *
 * @param dryRun do nothing to the database
 */
export async function migrateSchema(config, dryRun) {
    const database = databaseOf(config);
    const pending = database ? await pendingMigrations(database) : [];
    if (database && !dryRun)
        await (await openRepository(database)).close();
    const steps = pending.map((name) => `${dryRun ? 'would apply' : 'applied'} ${name}\n`);
    process.stdout.write(steps.join('') || 'the schema is up to date\n');
    return 0;
}
//# sourceMappingURL=migrate.js.map