import { parameterOf, withoutSecrets } from './open.js';
import { pageOfRows } from './page.js';
import { endWhenSilent } from './silence.js';
/** Any constant will do, as long as nobody else's lock in the database has it: "PLNT". */
const MIGRATION_LOCK = 0x504c4e54;
/** PostgreSQL. Values travel as JSON in one bound text, so that the statement is the same for one plant and a thousand. */
export const postgres = {
    driver: 'pg',
    writesMax: 2,
    idToText: 'CAST(id AS TEXT)',
    textToId: 'CAST(? AS BIGINT)',
    async insert(knex, plants) {
        const rows = JSON.stringify(plants.map(({ id, name, tag }) => [`${id}`, name, tag]));
        const result = await knex.raw(INSERT, [rows]).options({ name: 'plant-store-insert' });
        if (result.rowCount === plants.length)
            return [];
        const ids = new Set(result.rows.map(({ id }) => id));
        return plants.filter(({ id }) => !ids.has(`${id}`));
    },
    page: (knex, from) => pageOfRows(knex, postgres, from),
    async underMigrationLock(transaction, work) {
        await transaction.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
        await work();
    },
    async createTable(transaction) {
        await transaction.raw('CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
    },
    async unsyncedSettings(knex) {
        const { rows } = await knex.raw(`SELECT name || '=' || setting AS setting FROM pg_settings
       WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'`);
        return rows.map(({ setting }) => setting);
    },
    diagnose(error) {
        if (!(error instanceof Error) || error instanceof TypeError)
            return 'defect';
        // What has no SQLSTATE comes from the connection, not from the server.
        const state = 'severity' in error && 'code' in error ? `${error.code}` : '08000';
        return DIAGNOSES.find(([pattern]) => pattern.test(state))?.[1] ?? 'defect';
    },
    reasons: {
        '28000': 'the server does not let this user in',
        '28P01': 'the server does not accept the user or the password',
        '3D000': 'the server has no such database; create it first',
        '42501': 'this user may not create tables there',
        '53300': 'the server has no connection left',
        ECONNREFUSED: 'no server listens there',
        ENOTFOUND: 'the name of the host is not known',
        Error: 'the server does not answer in time, or not as it should',
        KnexTimeoutError: 'the server does not answer in time',
    },
};
const INSERT = `INSERT INTO plants (id, name, tag)
  SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, value ->> 2 FROM json_array_elements(?)
  ON CONFLICT (id) DO NOTHING
  RETURNING CAST(id AS TEXT) AS id`;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DIAGNOSES = [
    [/^40/, 'busy'],
    [/^(08|25006|28|3D000|53|55|57|58|XX001|XX002)/, 'unavailable'],
    [/^(22|23|44|54|P0001)/, 'refused'],
];
/**
 * A PostgreSQL database. The URL's parameters are those of libpq and of the pg
 * driver: `sslmode`, `sslrootcert`, `connect_timeout` (seconds), `statement_timeout` (milliseconds), `max` (connections).
 */
export function postgresDatabase({ url, timeoutMs, warn }) {
    const uri = new URL(url);
    return {
        engine: postgres,
        name: withoutSecrets(url),
        timeoutMs,
        warn,
        config: {
            connection: {
                connectionString: url,
                application_name: 'plant-store',
                keepAlive: true,
                statement_timeout: timeoutMs,
                connectionTimeoutMillis: 1000 * parameterOf(uri, 'connect_timeout', timeoutMs / 1000),
            },
            pool: {
                min: 0,
                max: parameterOf(uri, 'max', 10),
                createTimeoutMillis: timeoutMs,
                afterCreate: ({ connection }, done) => {
                    endWhenSilent(connection.stream, timeoutMs);
                    done();
                },
            },
        },
    };
}
//# sourceMappingURL=postgres.js.map