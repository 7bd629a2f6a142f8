import knexFactory, {} from 'knex';
import { after, before } from 'mocha';
import { needs } from './needs.js';
export const postgresServer = {
    name: 'PostgreSQL',
    client: 'pg',
    url: process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
};
export const mariadbServer = {
    name: 'MariaDB',
    client: 'mysql2',
    url: process.env['TEST_MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql',
};
let databases = 0;
/**
 * Databases for the surrounding suite, dropped at its end. Where the server is not there its tests are skipped, by name.
 * Call it inside `describe`.
 */
export function databasesOn(server) {
    const created = [];
    const open = [];
    const connect = (url = server.url) => {
        const knex = knexFactory({ client: server.client, connection: url, pool: { min: 0, max: 1 } });
        open.push(knex);
        return knex;
    };
    // PostgreSQL drops a schema in milliseconds, a database in seconds.
    const kind = server.client === 'pg' ? 'SCHEMA' : 'DATABASE';
    let admin;
    before(async function () {
        admin = connect();
        const isThere = await admin.raw('SELECT 1').then(() => true, () => false);
        needs(this, isThere, `${server.name} at ${new URL(server.url).host}`);
    });
    after(async () => {
        await Promise.all(open.filter((knex) => knex !== admin).map((knex) => knex.destroy()));
        const cascade = server.client === 'pg' ? ' CASCADE' : '';
        for (const name of created)
            await admin.raw(`DROP ${kind} ${name}${cascade}`);
        await admin.destroy();
    });
    return {
        connect,
        create: async () => {
            const name = `plant_store_test_${process.pid}_${++databases}`;
            await admin.raw(`CREATE ${kind} ${name}`);
            created.push(name);
            const url = new URL(server.url);
            if (server.client === 'pg')
                url.searchParams.set('options', `-c search_path=${name}`);
            else
                url.pathname = `/${name}`;
            return url.href;
        },
    };
}
//# sourceMappingURL=database-servers.js.map