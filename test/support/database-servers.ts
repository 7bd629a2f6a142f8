import knexFactory, { type Knex } from 'knex';
import { after, before } from 'mocha';
import { skipUnless } from './skip-unless.js';
import { waitUntil } from './wait-until.js';

/** A database server that tests use if it is available. */
export interface DatabaseServer {
  readonly name: string;
  readonly client: 'pg' | 'mysql2';
  /** URL of an existing database, with a user who may create databases. */
  readonly url: string;
  /** Whether its tests are skipped in CI, too, if it is unavailable. @default false */
  readonly isOptional?: boolean;
}

export const postgresServer: DatabaseServer = {
  name: 'PostgreSQL',
  client: 'pg',
  url: process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
};
export const mariadbServer: DatabaseServer = {
  name: 'MariaDB',
  client: 'mysql2',
  url: process.env['TEST_MARIADB_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql',
};
/** Started by test/servers.sh, which may not be able to download it. */
export const newestPostgresServer: DatabaseServer = {
  name: 'PostgreSQL 18',
  client: 'pg',
  url: process.env['TEST_NEWEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5433/postgres',
  isOptional: true,
};
/** Started by test/servers.sh, which may not be able to download it. */
export const mysqlServer: DatabaseServer = {
  name: 'MySQL 9.7',
  client: 'mysql2',
  url: process.env['TEST_MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3307/mysql',
  isOptional: true,
};

const POSTGRES_WAITS =
  "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO plants%'";
/** A view like `innodb_trx` stays as it is while it is polled. */
const INNODB_WAITS = "SHOW GLOBAL STATUS WHERE variable_name = 'Innodb_row_lock_current_waits' AND value > 0";

/** Waits until an insert of plants waits for a lock on the server of `knex`. */
export function waitForLock(knex: Knex): Promise<void> {
  return waitUntil('an insert waits for a lock', async () => {
    if (knex.client.driverName === 'pg') return (await knex.raw(POSTGRES_WAITS)).rows.length > 0;
    const [rows] = await knex.raw(INNODB_WAITS);
    return rows.length > 0;
  });
}

let databases = 0;

/**
 * Creates databases for the surrounding suite, which drops them at its end. Skips the suite if the server is
 * unavailable. Call it inside `describe`.
 */
export function databasesOn(server: DatabaseServer) {
  const isPostgres = server.client === 'pg';
  const admin = connectTo(server);
  const created: string[] = [];
  const open: Knex[] = [];
  before(async function () {
    skipUnless(this, await isAvailable(admin), `${server.name} at ${new URL(server.url).host}`, server.isOptional);
  });
  after(async () => {
    await Promise.all(open.map((knex) => knex.destroy()));
    for (const name of created) await admin.raw(`DROP SCHEMA ${name} ${isPostgres ? 'CASCADE' : ''}`);
    await admin.destroy();
  });
  return {
    /** Connects to a database, or to the server by default. The suite closes the connection. */
    connect(url = server.url) {
      const knex = connectTo({ ...server, url });
      open.push(knex);
      return knex;
    },
    /** Creates an empty database and returns its URL. */
    async create() {
      const name = `plant_store_test_${process.pid}_${++databases}`;
      // In MariaDB, a synonym of a database. PostgreSQL drops a schema in milliseconds, but a database in seconds.
      await admin.raw(`CREATE SCHEMA ${name}`);
      created.push(name);
      const url = new URL(server.url);
      if (isPostgres) url.searchParams.set('options', `-c search_path=${name}`);
      else url.pathname = `/${name}`;
      return url.href;
    },
  };
}

/** Opens one connection to a server, at the first query. */
export function connectTo({ client, url }: Pick<DatabaseServer, 'client' | 'url'>): Knex {
  return knexFactory({ client, connection: url, log: { warn() {}, error() {} }, pool: { min: 0, max: 1 } });
}

/** Returns whether a server responds. */
export async function isAvailable(knex: Knex): Promise<boolean> {
  const [result] = await Promise.allSettled([knex.raw('SELECT 1')]);
  return result.status === 'fulfilled';
}
