import { StorageUnavailable } from '../../core/index.js';
import { codeOf } from './failure.js';
import { parameterOf, withoutSecrets } from './open.js';
import { pageOfRows } from './page.js';
import { endWhenSilent } from './silence.js';
/** How often a batch may find that others took ids of it meanwhile. */
const INSERT_ATTEMPTS_MAX = 10;
/**
 * MySQL and MariaDB, Galera clusters too. Not every one of them can say which rows an insert skipped, and INSERT IGNORE
 * hides other failures than the one meant. So a batch is inserted plainly; where an id is taken the engine takes back the
 * whole statement, and the rest of the batch is tried again.
 */
export const mysql = {
    driver: 'mysql2',
    writesMax: 2,
    idToText: 'CAST(id AS CHAR)',
    textToId: 'CAST(? AS SIGNED)',
    async insert(knex, plants) {
        const taken = [];
        let free = plants;
        for (let attempt = 0; attempt < INSERT_ATTEMPTS_MAX; attempt++) {
            try {
                if (free.length > 0)
                    await knex('plants').insert(free.map(({ id, name, tag }) => ({ id: `${id}`, name, tag: tag ?? null })));
                return taken;
            }
            catch (error) {
                if (codeOf(error) !== 'ER_DUP_ENTRY')
                    throw error;
            }
            const ids = new Set(await takenIds(knex, free));
            taken.push(...free.filter(({ id }) => ids.has(`${id}`)));
            free = free.filter(({ id }) => !ids.has(`${id}`));
        }
        throw new StorageUnavailable(`other instances took ids of this batch ${INSERT_ATTEMPTS_MAX} times in a row`);
    },
    page: (knex, from) => pageOfRows(knex, mysql, from),
    async underMigrationLock(transaction, work) {
        // DDL commits by itself here, so that the lock is the session's, and of this database's name.
        const [[{ locked }]] = await transaction.raw("SELECT GET_LOCK(CONCAT('plant-store.', DATABASE()), @@innodb_lock_wait_timeout) AS locked");
        if (locked !== 1)
            throw new StorageUnavailable('another instance kept the schema locked for too long');
        try {
            await work();
        }
        finally {
            await transaction.raw("DO RELEASE_LOCK(CONCAT('plant-store.', DATABASE()))");
        }
    },
    async createTable(transaction) {
        // Binary collation: 'a' and 'A ' are different texts. LONGTEXT: TEXT ends at 64 KiB.
        await transaction.raw(`CREATE TABLE IF NOT EXISTS plants (
         id BIGINT PRIMARY KEY,
         name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
         tag LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
       ) ENGINE = InnoDB`);
    },
    async unsyncedSettings(knex) {
        const [[{ flush }]] = await knex.raw('SELECT @@innodb_flush_log_at_trx_commit AS flush');
        return flush === 1 ? [] : [`innodb_flush_log_at_trx_commit=${flush}`];
    },
    diagnose(error) {
        if (!(error instanceof Error) || error instanceof TypeError)
            return 'defect';
        // What has no SQLSTATE comes from the connection, not from the server.
        // Knex finds its lock taken where GET_LOCK reaches one node of a cluster only.
        if (!('sqlState' in error) || error.sqlState === undefined) {
            return error.name === 'MigrationLocked' ? 'busy' : 'unavailable';
        }
        const key = `${error.sqlState} ${'errno' in error ? error.errno : ''}`;
        return DIAGNOSES.find(([pattern]) => pattern.test(key))?.[1] ?? 'defect';
    },
    reasons: {
        ECONNREFUSED: 'no server listens there',
        ENOTFOUND: 'the name of the host is not known',
        ER_ACCESS_DENIED_ERROR: 'the server does not accept the user or the password',
        ER_BAD_DB_ERROR: 'the server has no such database; create it first',
        ER_CON_COUNT_ERROR: 'the server has no connection left',
        ER_DBACCESS_DENIED_ERROR: 'this user may not use the database',
        ETIMEDOUT: 'the server does not answer in time',
        KnexTimeoutError: 'the server does not answer in time',
    },
};
/**
 * By SQLSTATE and error number: the driver's names are MySQL's, and wrong for MariaDB
 * (https://mariadb.com/kb/en/mariadb-error-code-reference/). 1153 is a packet that is too large, 1205 a lock that others
 * hold; 1021, 1114: full; 1290, 1836: read-only. Of Galera: 1047 is a node without its cluster, 1180 one that lost it
 * during a commit; 1050 and 1412: another node has just made the table; 1305: Knex misses a savepoint that its own DDL
 * ended, when it takes back a migration that was in the way of another node's.
 */
const DIAGNOSES = [
    [/ 1153$/, 'refused'],
    [/^40| (1020|1050|1305|1412)$/, 'busy'],
    [/^(08|28|70)| (\d{1,3}|1021|1044|1047|1049|1114|1180|1205|1290|1836|3024)$/, 'unavailable'],
    [/^(22|23|44|45)/, 'refused'],
];
async function takenIds(knex, plants) {
    const ids = plants.map(({ id }) => `${id}`);
    const marks = ids.map(() => mysql.textToId).join(', ');
    const [rows] = await knex.raw(`SELECT ${mysql.idToText} AS id FROM plants WHERE id IN (${marks})`, ids);
    return rows.map(({ id }) => id);
}
/**
 * A MySQL or MariaDB database. The URL's parameters are those of mysql2: `ssl` (a
 * JSON object), `connectTimeout` (milliseconds), `connectionLimit`, and so on.
 */
export function mysqlDatabase({ url, timeoutMs, warn }) {
    const uri = new URL(url);
    const connectionLimit = parameterOf(uri, 'connectionLimit', 10);
    const connectTimeout = parameterOf(uri, 'connectTimeout', timeoutMs);
    // Several statements in one text would be a door for an injection; text is always utf8mb4.
    for (const parameter of ['connectionLimit', 'connectTimeout', 'multipleStatements', 'charset'])
        uri.searchParams.delete(parameter);
    const seconds = Math.ceil(timeoutMs / 1000);
    return {
        engine: mysql,
        name: withoutSecrets(url),
        timeoutMs,
        warn,
        config: {
            connection: { uri: uri.href, charset: 'utf8mb4', connectTimeout },
            pool: {
                min: 0,
                max: connectionLimit,
                createTimeoutMillis: timeoutMs,
                afterCreate: (connection, done) => {
                    endWhenSilent(connection.stream, timeoutMs);
                    // Strict, so that nothing is cut off without a word; the timeout of statements is MariaDB's alone.
                    connection.query(`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = ${seconds}
           /*M! , max_statement_time = ${seconds} */`, (error) => (error ? done(error) : readAllCommitted(connection, done)));
                },
            },
        },
    };
}
/** On a Galera cluster, lets reads wait for what any node has committed; other servers do not know the variable (1193). */
function readAllCommitted(connection, done) {
    connection.query('SET SESSION wsrep_sync_wait = 1', (error) => done(error?.errno === 1193 ? null : error));
}
//# sourceMappingURL=mysql.js.map