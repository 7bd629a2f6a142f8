import { createRequire } from 'node:module';
import knexFactory, {} from 'knex';
import { StorageUnavailable } from '../../core/index.js';
import { whileBusy } from './busy.js';
import { StorageFailure } from './failure.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { migrate, migrationNames, pendingOf } from './migrations.js';
/** Knex would print errors, with the values of the statement in them. */
const silent = { warn() { }, error() { }, deprecate() { }, debug() { } };
/**
 * A number in a URL's parameters.
 *
 * @throws {StorageUnavailable} where it is none, or not above 0
 */
export function parameterOf(url, name, byDefault) {
    const text = url.searchParams.get(name);
    const value = text === null ? byDefault : Number(text);
    if (value > 0 && value < Number.POSITIVE_INFINITY)
        return value;
    throw new StorageUnavailable(`cannot open ${withoutSecrets(url.href)}: its parameter ${name} must be a number above 0`);
}
/** What of a URL may be shown. */
export function withoutSecrets(url) {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
}
/**
 * Opens a database and brings its schema up to date.
 *
 * @throws {StorageUnavailable} with a sentence that says why it cannot be opened
 */
export function openRepository(database) {
    const { engine, file, timeoutMs, warn } = database;
    return explained(database, async () => {
        file?.create();
        const knex = connect(database);
        try {
            await whileBusy(engine, timeoutMs, () => migrate(knex, engine));
            const unsynced = await engine.unsyncedSettings(knex);
            if (unsynced.length > 0) {
                warn?.(`the database acknowledges plants before they are synced, so a power cut may lose them: ${unsynced.join(', ')}`);
            }
            return new KnexPlantRepository(knex, engine, timeoutMs);
        }
        catch (error) {
            await knex.destroy();
            throw error;
        }
    });
}
/**
 * Says what {@link openRepository} would do to the schema, and does nothing.
 *
 * @returns the names of the migrations that are still to come
 * @throws {StorageUnavailable} with a sentence that says why the database cannot be opened
 */
export function pendingMigrations(database) {
    const { engine, file, timeoutMs } = database;
    return explained(database, async () => {
        if (file?.isMissing())
            return migrationNames(engine);
        const knex = connect(database);
        try {
            return await whileBusy(engine, timeoutMs, () => pendingOf(knex, engine));
        }
        finally {
            await knex.destroy();
        }
    });
}
function connect({ engine: { driver }, config, timeoutMs }) {
    try {
        createRequire(import.meta.url).resolve(driver);
    }
    catch {
        throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
    }
    return knexFactory({ client: driver, log: silent, acquireConnectionTimeout: timeoutMs, ...config });
}
/** Runs `work`; what a driver or the operating system throws becomes a sentence. */
async function explained({ engine, name }, work) {
    try {
        return await work();
    }
    catch (error) {
        const cause = new StorageFailure(error);
        const reason = error instanceof StorageUnavailable ? error.message : (engine.reasons[cause.code] ?? `it reported ${cause.code}`);
        throw new StorageUnavailable(`cannot open ${name}: ${reason}`, { cause });
    }
}
//# sourceMappingURL=open.js.map