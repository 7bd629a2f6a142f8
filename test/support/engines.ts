import { join } from 'node:path';
import {
  type KnexStorage,
  openMysql,
  openPostgres,
  openSqlite,
  type ServerOptions,
  type SqliteOptions,
} from '@plant-store/adapters/knex';
import type { Knex } from 'knex';
import { after } from 'mocha';
import type { Dialect } from '#adapters/driven/knex/dialect.js';
import { mysql } from '#adapters/driven/knex/mysql.js';
import { postgres } from '#adapters/driven/knex/postgres.js';
import { sqlite } from '#adapters/driven/knex/sqlite.js';
import {
  connectTo,
  type DatabaseServer,
  databasesOn,
  mariadbServer,
  mysqlServer,
  newestPostgresServer,
  postgresServer,
} from './database-servers.js';
import { FaultyProxy } from './faulty-proxy.js';
import { fromRow, type TestPlant } from './plants.js';
import { SqliteFile } from './sqlite-file.js';
import { temporaryFolder } from './temporary.js';

/** Direct access to the database of a service. */
export interface TestStore {
  /** The `DATABASE_URL` of the service. */
  readonly url: string;
  /** Reads every plant, ascending by id. */
  readPlants(): Promise<TestPlant[]>;
  /** Runs a statement as another program, which disconnects afterwards. */
  run(sql: string): Promise<unknown>;
  /** Returns the errors in SQLite's file. Absent for servers, because they alone write their files. */
  checkIntegrity?(): Promise<string[]>;
}

/** A store that can be made unavailable to what uses its URL. */
export interface FragileStore extends TestStore {
  whileUnavailable(work: () => Promise<unknown>): Promise<unknown>;
}

/** An engine on which tests run. */
interface Engine {
  readonly name: string;
  readonly dialect: Dialect;
  /** SQL that makes the engine reject plants with the name `poison`. */
  readonly rejectPoison: string;
  /** Creates stores for the surrounding suite, which removes them. Call it inside `describe`. */
  stores(): {
    create(): Promise<TestStore>;
    createFragile(): Promise<FragileStore>;
    /** Opens a storage that the suite closes. */
    open(store: TestStore, options?: StoreOptions): Promise<KnexStorage>;
  };
}

type StoreOptions = Omit<SqliteOptions & ServerOptions, 'path' | 'url'>;

export const sqliteEngine = {
  name: 'SQLite',
  dialect: sqlite,
  // SQLite cannot add a constraint to a table.
  rejectPoison: `CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
  stores() {
    const open = openForSuite();
    const folder = temporaryFolder();
    let files = 0;
    const newPath = () => join(folder, `${++files}.db`);
    return {
      open,
      create: async () => sqliteStore(newPath()),
      createFragile: async () => {
        const path = newPath();
        const whileUnavailable = async (work: () => Promise<unknown>) => {
          const other = await SqliteFile.open(path);
          await other.exec('BEGIN EXCLUSIVE');
          await work().finally(() => other.close());
        };
        return { ...sqliteStore(path), whileUnavailable };
      },
    };
  },
} satisfies Engine;
export const postgresEngine = onServer(postgresServer);
export const mariadbEngine = onServer(mariadbServer);
export const mysqlEngine = onServer(mysqlServer);

const servers = [postgresEngine, onServer(newestPostgresServer), mariadbEngine, mysqlEngine];
const { TEST_TIER } = process.env;
/** The engines of the tier. A test file on the command line runs on every engine that is available. */
export const enginesOfTier: readonly Engine[] = [
  ...(TEST_TIER === 'engines' ? [] : [sqliteEngine]),
  ...(TEST_TIER === undefined || TEST_TIER === 'engines' ? servers : []),
];

/** Opens the storage at the URL of a store, without the service. */
export function openStore(url: string, options: StoreOptions = {}): Promise<KnexStorage> {
  if (url.startsWith('sqlite:')) return openSqlite({ path: url.replace('sqlite:', ''), ...options });
  return url.startsWith('postgres:') ? openPostgres({ url, ...options }) : openMysql({ url, ...options });
}

/** Returns {@link openStore} for storages that the surrounding suite closes. */
function openForSuite(): ReturnType<Engine['stores']>['open'] {
  const opened: KnexStorage[] = [];
  after(() => Promise.all(opened.map((storage) => storage.close())));
  return async ({ url }, options) => {
    const storage = await openStore(url, options);
    opened.push(storage);
    return storage;
  };
}

function onServer(server: DatabaseServer): Engine {
  const stores = () => {
    const open = openForSuite();
    const databases = databasesOn(server);
    const proxies: FaultyProxy[] = [];
    after(() => Promise.all(proxies.map((proxy) => proxy.refuseConnections())));
    const create = async () => {
      const url = await databases.create();
      return serverStore(url, databases.connect(url));
    };
    const createFragile = async () => {
      const proxy = await FaultyProxy.to(server.url);
      proxies.push(proxy);
      const store = await create();
      const whileUnavailable = async (work: () => Promise<unknown>) => {
        await proxy.refuseConnections();
        await work().finally(() => proxy.restore());
      };
      return { ...store, url: proxy.toProxiedUrl(store.url), whileUnavailable };
    };
    return { create, createFragile, open };
  };
  const dialect = server.client === 'pg' ? postgres : mysql;
  return { name: server.name, dialect, rejectPoison: "ALTER TABLE plants ADD CHECK (name <> 'poison')", stores };
}

/** Returns the store in a SQLite file. */
export function sqliteStore(path: string): Required<TestStore> & { readonly path: string } {
  const use = async <Result>(work: (file: SqliteFile) => Promise<Result>) => {
    const file = await SqliteFile.open(path);
    return work(file).finally(() => file.close());
  };
  const query = (sql: string) => use((file) => file.all(sql));
  return {
    path,
    url: `sqlite:${path}`,
    run: (sql) => use((file) => file.exec(sql)),
    readPlants: async () =>
      (await query("SELECT '' || id AS id, name, tag FROM plants ORDER BY plants.id")).map(fromRow),
    checkIntegrity: async () => {
      const rows = await query('PRAGMA integrity_check');
      return rows.map((row) => `${row['integrity_check']}`).filter((text) => text !== 'ok');
    },
  };
}

/** Returns the store in a database of a server, accessed through `knex`. */
export function serverStore(url: string, knex: Knex): TestStore {
  const run = async (sql: string) => {
    const client = url.startsWith('mysql') ? 'mysql2' : 'pg';
    const other = connectTo({ client, url });
    await other.raw(sql).finally(() => other.destroy());
  };
  return { url, run, readPlants: () => readTable(knex, 'plants') };
}

/** Reads the plants in a table of a server, ascending by id. */
export async function readTable(knex: Knex, table: string): Promise<TestPlant[]> {
  // As a string: a JavaScript number may not represent the id.
  const id = knex.raw("concat(id, '') AS id");
  return (await knex(table).select(id, 'name', 'tag').orderBy('plants.id')).map(fromRow);
}
