import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { mariadbServer, postgresServer } from '../../support/database-servers.js';

/** A storage engine. */
export interface Storage {
  readonly name: string;
  /** Whether the engine responds. */
  isAvailable(): Promise<boolean>;
  /** Creates an empty store. */
  create(folder: string): Promise<Store>;
  /** Returns the version of the engine. */
  version(): Promise<string>;
}

/** The store of one program. */
export interface Store {
  /** Environment variables for the program. */
  readonly environment: Readonly<Record<string, string>>;
  /** Path of the SQLite file, if any. */
  readonly file?: string;
  /** Counts the plants over a separate connection. */
  rows(): Promise<number>;
  /** Returns the number of syncs so far, if the engine counts them. */
  syncs?(): Promise<number>;
  drop(): Promise<void>;
}

export const sqlite: Storage = {
  name: 'SQLite',
  isAvailable: async () => true,
  create: async (folder) => sqliteFile(join(mkdtempSync(join(folder, 'sqlite-')), 'plants.db')),
  version: () =>
    using(connect('sqlite3', { filename: ':memory:' }), (knex) => readValue(knex, 'SELECT sqlite_version()')),
};

/** Returns a store in a new or existing SQLite file; dropping it removes its folder. */
export function sqliteFile(file: string): Store {
  return {
    file,
    environment: { DATABASE_URL: `sqlite:${file}`, DATABASE_FILE: file, DATABASE_CLIENT: 'sqlite3' },
    rows: () => using(connect('sqlite3', { filename: file }), countRows),
    drop: async () => rmSync(join(file, '..'), { recursive: true, force: true }),
  };
}

export const postgres: Storage = server(postgresServer.url, {
  name: 'PostgreSQL',
  client: 'pg',
  kind: 'SCHEMA',
  drop: (name) => `DROP SCHEMA ${name} CASCADE`,
  selectDatabase(url, name) {
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
  selectDatabase(url, name) {
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
  /** Changes the URL of the server to that of one of its databases. */
  selectDatabase(url: URL, name: string): void;
  readonly syncs: string;
  readonly version: string;
}

/** Time for an engine to count the syncs of closed connections. */
const SYNCS_SETTLE_MS = 500;

let stores = 0;

function server(serverUrl: string, { name: engine, client, kind, drop, selectDatabase, ...sql }: Server): Storage {
  const admin = () => connect(client, serverUrl);
  return {
    name: engine,
    isAvailable: () =>
      using(admin(), (knex) => knex.raw('SELECT 1')).then(
        () => true,
        () => false,
      ),
    version: () => using(admin(), (knex) => readValue(knex, sql.version)),
    async create() {
      const name = `plant_store_bench_${process.pid}_${++stores}`;
      await using(admin(), (knex) => knex.raw(`CREATE ${kind} ${name}`));
      const url = new URL(serverUrl);
      selectDatabase(url, name);
      return {
        environment: { DATABASE_URL: url.href, DATABASE_CLIENT: client },
        rows: () => using(connect(client, url.href), countRows),
        async syncs() {
          await setTimeout(SYNCS_SETTLE_MS);
          return Number(await using(admin(), (knex) => readValue(knex, sql.syncs)));
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

async function countRows(knex: Knex): Promise<number> {
  const [row] = await knex('plants').count({ rows: '*' });
  return Number(row?.['rows']);
}

/** Returns the first value of the first row. */
async function readValue(knex: Knex, sql: string): Promise<string> {
  const row: object | undefined = await knex
    .select('*')
    .from(knex.raw(`(${sql}) AS result`))
    .first();
  return `${Object.values(row ?? {})[0]}`;
}
