import knexFactory, { type Knex } from 'knex';
import { after, before } from 'mocha';
import { skipUnless } from './skip-unless.js';

/** A database server that tests use if it is available. */
export interface DatabaseServer {
  readonly name: string;
  readonly client: 'pg' | 'mysql2';
  /** URL of an existing database, with a user who may create databases. */
  readonly url: string;
}

export const postgresServer: DatabaseServer = {
  name: 'PostgreSQL',
  client: 'pg',
  url: process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
};

export const mariadbServer: DatabaseServer = {
  name: 'MariaDB',
  client: 'mysql2',
  url: process.env['TEST_MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql',
};

/** Temporary databases on a server. */
export interface Databases {
  /** Creates an empty database and returns its URL. */
  create(): Promise<string>;
  /** Connects to a database, or to the server by default. The suite closes the connection. */
  connect(url?: string): Knex;
}

let databases = 0;

/**
 * Creates databases for the surrounding suite, which drops them at its end. Skips the suite if the server is
 * unavailable. Call it inside `describe`.
 */
export function databasesOn(server: DatabaseServer): Databases {
  const created: string[] = [];
  const open: Knex[] = [];
  const connect = (url = server.url) => {
    const knex = knexFactory({ client: server.client, connection: url, pool: { min: 0, max: 1 } });
    open.push(knex);
    return knex;
  };
  // PostgreSQL drops a schema in milliseconds, but a database in seconds.
  const kind = server.client === 'pg' ? 'SCHEMA' : 'DATABASE';
  let admin: Knex | undefined;

  before(async function () {
    admin = connect();
    skipUnless(this, await isAvailable(admin), `${server.name} at ${new URL(server.url).host}`);
  });
  after(async () => {
    await Promise.all(open.filter((knex) => knex !== admin).map((knex) => knex.destroy()));
    const cascade = server.client === 'pg' ? ' CASCADE' : '';
    for (const name of created) await admin?.raw(`DROP ${kind} ${name}${cascade}`);
    await admin?.destroy();
  });

  return {
    connect,
    create: async () => {
      const name = `plant_store_test_${process.pid}_${++databases}`;
      await admin?.raw(`CREATE ${kind} ${name}`);
      created.push(name);
      const url = new URL(server.url);
      if (server.client === 'pg') url.searchParams.set('options', `-c search_path=${name}`);
      else url.pathname = `/${name}`;
      return url.href;
    },
  };
}

/** Returns whether a server responds. */
export function isAvailable(knex: Knex): Promise<boolean> {
  return knex.raw('SELECT 1').then(
    () => true,
    () => false,
  );
}
