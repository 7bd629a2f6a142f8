import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { mariadbServer, postgresServer } from '../../support/database-servers.js';

/** A kind of place for plants. */
export interface Storage {
  readonly name: string;
  /** Whether there is an engine that answers. */
  isThere(): Promise<boolean>;
  /** A new, empty store. */
  create(folder: string): Promise<Store>;
  /** The version of the engine. */
  version(): Promise<string>;
}

/** A place for the plants of one program. */
export interface Store {
  /** What a program is told of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The SQLite file, where it is one. */
  readonly file?: string;
  /** The plants in it, counted from outside. */
  rows(): Promise<number>;
  /** How often the engine has synced so far, where it counts that itself. */
  syncs?(): Promise<number>;
  drop(): Promise<void>;
}

export const sqlite: Storage = {
  name: 'SQLite',
  isThere: async () => true,
  create: async (folder) => sqliteFile(join(mkdtempSync(join(folder, 'sqlite-')), 'plants.db')),
  version: () => using(connect('sqlite3', { filename: ':memory:' }), (knex) => textOf(knex, 'SELECT sqlite_version()')),
};

/** A SQLite file, which may be there already; dropping it removes its folder. */
export function sqliteFile(file: string): Store {
  return {
    file,
    environment: { DATABASE_URL: `sqlite:${file}`, DATABASE_FILE: file, DATABASE_CLIENT: 'sqlite3' },
    rows: () => using(connect('sqlite3', { filename: file }), rowsIn),
    drop: async () => rmSync(join(file, '..'), { recursive: true, force: true }),
  };
}

export const postgres: Storage = server(postgresServer.url, {
  name: 'PostgreSQL',
  client: 'pg',
  kind: 'SCHEMA',
  drop: (name) => `DROP SCHEMA ${name} CASCADE`,
  urlOf(url, name) {
    url.searchParams.set('options', `-c search_path=${name}`);
  },
  syncs: 'SELECT wal_sync FROM pg_stat_wal',
  version: "SELECT current_setting('server_version')",
});

export const mariadb: Storage = server(mariadbServer.url, {
  name: 'MariaDB',
  client: 'mysql2',
  kind: 'DATABASE',
  drop: (name) => `DROP DATABASE ${name}`,
  urlOf(url, name) {
    url.pathname = `/${name}`;
  },
  syncs: `SELECT SUM(VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS
    WHERE VARIABLE_NAME IN ('INNODB_DATA_FSYNCS', 'INNODB_OS_LOG_FSYNCS')`,
  version: 'SELECT version()',
});

interface Server {
  readonly name: string;
  readonly client: 'pg' | 'mysql2';
  readonly kind: 'SCHEMA' | 'DATABASE';
  drop(name: string): string;
  /** Makes the URL of the server that of one of its databases. */
  urlOf(url: URL, name: string): void;
  readonly syncs: string;
  readonly version: string;
}

/** How long an engine may take to notice that connections were closed, and to count their syncs, in milliseconds. */
const SYNCS_SETTLE_MS = 500;

let stores = 0;

function server(serverUrl: string, { name: engine, client, kind, drop, urlOf, ...sql }: Server): Storage {
  const admin = () => connect(client, serverUrl);
  return {
    name: engine,
    isThere: () =>
      using(admin(), (knex) => knex.raw('SELECT 1')).then(
        () => true,
        () => false,
      ),
    version: () => using(admin(), (knex) => textOf(knex, sql.version)),
    async create() {
      const name = `plant_store_bench_${process.pid}_${++stores}`;
      await using(admin(), (knex) => knex.raw(`CREATE ${kind} ${name}`));
      const url = new URL(serverUrl);
      urlOf(url, name);
      return {
        environment: { DATABASE_URL: url.href, DATABASE_CLIENT: client },
        rows: () => using(connect(client, url.href), rowsIn),
        async syncs() {
          await setTimeout(SYNCS_SETTLE_MS);
          return Number(await using(admin(), (knex) => textOf(knex, sql.syncs)));
        },
        drop: () => using(admin(), (knex) => knex.raw(drop(name))),
      };
    },
  };
}

function connect(client: string, connection: string | { filename: string }): Knex {
  return knexFactory({ client, connection, useNullAsDefault: true, pool: { min: 0, max: 1 } });
}

async function using<T>(knex: Knex, work: (knex: Knex) => PromiseLike<T>): Promise<T> {
  try {
    return await work(knex);
  } finally {
    await knex.destroy();
  }
}

async function rowsIn(knex: Knex): Promise<number> {
  const [row] = await knex('plants').count({ rows: '*' });
  return Number(row?.['rows']);
}

/** The first value of the first row. */
async function textOf(knex: Knex, sql: string): Promise<string> {
  const row: object | undefined = await knex
    .select('*')
    .from(knex.raw(`(${sql}) AS answer`))
    .first();
  return `${Object.values(row ?? {})[0]}`;
}
