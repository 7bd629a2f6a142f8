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
  /** Whether its tests are skipped in CI, too, because test/servers.sh may not be able to download it. @default false */
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
export const newestPostgresServer: DatabaseServer = {
  name: 'PostgreSQL 18',
  client: 'pg',
  url: process.env['TEST_NEWEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5433/postgres',
  isOptional: true,
};
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

let names = 0;

/**
 * Creates databases for the surrounding suite, which drops them at its end. Skips the suite if the server is
 * unavailable. Call it inside `describe`.
 */
export function databasesOn(server: DatabaseServer) {
  const isPostgres = server.client === 'pg';
  const admin = connectTo(server);
  const connections: Knex[] = [];
  const cleaning: string[] = [];
  const newName = () => `plant_store_test_${process.pid}_${++names}`;
  before(async function () {
    skipUnless(this, await isAvailable(admin), `${server.name} at ${new URL(server.url).host}`, server.isOptional);
  });
  after(async () => {
    await Promise.all(connections.map((knex) => knex.destroy()));
    for (const statement of cleaning) await admin.raw(statement);
    await admin.destroy();
  });
  return {
    /** Connects to a database, or to the server by default. The suite closes the connection. */
    connect(url = server.url) {
      const knex = connectTo({ ...server, url });
      connections.push(knex);
      return knex;
    },
    /** Creates an empty database and returns its URL. */
    async create() {
      const name = newName();
      // In MariaDB, a synonym of a database. PostgreSQL drops a schema in milliseconds, but a database in seconds.
      await admin.raw(`CREATE SCHEMA ${name}`);
      cleaning.push(`DROP SCHEMA ${name} ${isPostgres ? 'CASCADE' : ''}`);
      const url = new URL(server.url);
      if (isPostgres) url.searchParams.set('options', `-c search_path=${name}`);
      else url.pathname = `/${name}`;
      return url.href;
    },
    /** Creates a user with all rights in a database. Returns the name, and the URL with it. */
    async createUser(url: string, options = '') {
      const username = newName();
      const name = /plant_store_test_\w+$/.exec(url)?.[0];
      const statements = isPostgres
        ? [
            `CREATE ROLE ${username} LOGIN ${options}`,
            `GRANT ALL ON SCHEMA ${name} TO ${username}`,
            `GRANT ALL ON ALL TABLES IN SCHEMA ${name} TO ${username}`,
          ]
        : [`CREATE USER ${username} ${options}`, `GRANT ALL ON ${name}.* TO ${username}`];
      for (const statement of statements) await admin.raw(statement);
      cleaning.push(...(isPostgres ? [`DROP OWNED BY ${username}`] : []), `DROP USER ${username}`);
      return { username, url: Object.assign(new URL(url), { username }).href };
    },
  };
}

/** Opens one connection to a server, at the first query. */
export function connectTo({ client, url }: Pick<DatabaseServer, 'client' | 'url'>): Knex {
  return knexFactory({ client, connection: url, log: { warn() {}, error() {} }, pool: { min: 0, max: 1 } });
}

/** Returns whether a server responds. */
export function isAvailable(knex: Knex): Promise<boolean> {
  return knex.raw('SELECT 1').then(
    () => true,
    () => false,
  );
}
