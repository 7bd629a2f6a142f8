import { StorageUnavailable } from '../../core/index.js';
function migrationsFor(engine) {
    return [{ name: '001_plants', up: (knex) => engine.createTable(knex) }];
}
/** The names of all migrations, in their order. */
export function migrationNames(engine) {
    return migrationsFor(engine).map(({ name }) => name);
}
/**
 * Brings the schema up to date. All of it happens in one transaction under a lock of the engine: instances that start
 * together wait for one another, and one that is killed in the middle leaves nothing behind that stops them.
 *
 * @throws {StorageUnavailable} when the schema is newer than this version of the package
 */
export async function migrate(knex, engine) {
    // An error that ends a transaction is followed by those of the attempts to end it again; the first one says why.
    let first;
    const remember = (error) => {
        first ??= error;
    };
    knex.on('query-error', remember);
    try {
        await knex.transaction((transaction) => engine.underMigrationLock(transaction, async () => {
            await pendingOf(transaction, engine);
            const config = configFor(engine);
            // Nobody else migrates now, so Knex's own lock, where it is held, was left behind.
            await transaction.migrate.forceFreeMigrationsLock(config);
            await transaction.migrate.latest(config);
        }));
    }
    catch (error) {
        throw first ?? error;
    }
    finally {
        knex.off('query-error', remember);
    }
}
/**
 * The names of the migrations that are still to come.
 *
 * @throws {StorageUnavailable} when the schema is newer than this version of the package
 */
export async function pendingOf(knex, engine) {
    const known = migrationNames(engine);
    const done = (await knex.schema.hasTable(TABLE)) ? await knex(TABLE).orderBy('id').pluck('name') : [];
    const unknown = done.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
        throw new StorageUnavailable(`its schema is newer than this version of plant-store (it has ${unknown.join(', ')}); start a newer version`);
    }
    return known.filter((name) => !done.includes(name));
}
const TABLE = 'plant_store_migrations';
function configFor(engine) {
    return {
        tableName: TABLE,
        migrationSource: {
            getMigrations: async () => [...migrationsFor(engine)],
            getMigrationName: ({ name }) => name,
            getMigration: async ({ up }) => ({ up, down: refuseDown }),
        },
    };
}
/** Knex asks for a way down; there is none, because it would lose plants. */
async function refuseDown() {
    throw new Error('a store of plants is not migrated down');
}
//# sourceMappingURL=migrations.js.map