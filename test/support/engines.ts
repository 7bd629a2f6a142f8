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
  /** Runs a statement as another program. */
  run(sql: string): Promise<unknown>;
  /** Returns the errors in SQLite's file. Absent for servers, because they alone write their files. */
  checkIntegrity?(): Promise<string[]>;
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
    /** Creates a store that can be made unavailable to what uses its URL. */
    createFragile(): Promise<TestStore & { whileUnavailable(work: () => Promise<unknown>): Promise<unknown> }>;
    /** Opens a storage that the suite closes. */
    open(store: Pick<TestStore, 'url'>, options?: StoreOptions): Promise<KnexStorage>;
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
    const create = async () => sqliteStore(join(folder, `${++files}.db`));
    const createFragile = async () => {
      const store = await create();
      const whileUnavailable = async (work: () => Promise<unknown>) => {
        const other = await SqliteFile.open(store.path);
        await other.exec('BEGIN EXCLUSIVE');
        await work().finally(() => other.close());
      };
      return { ...store, whileUnavailable };
    };
    return { create, createFragile, open };
  },
} satisfies Engine;
export const postgresEngine = onServer(postgresServer);
export const mariadbEngine = onServer(mariadbServer);
export const mysqlEngine = onServer(mysqlServer);

/** The servers, which create users, too. */
export const serverEngines = [postgresEngine, onServer(newestPostgresServer), mariadbEngine, mysqlEngine];
const { TEST_TIER } = process.env;
/** The engines of the tier. A test file on the command line runs on every engine that is available. */
export const enginesOfTier: readonly Engine[] = [
  ...(TEST_TIER === 'engines' ? [] : [sqliteEngine]),
  ...(TEST_TIER === undefined || TEST_TIER === 'engines' ? serverEngines : []),
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

function onServer(server: DatabaseServer) {
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
    return { create, createFragile, open, createUser: databases.createUser };
  };
  const dialect: Dialect = server.client === 'pg' ? postgres : mysql;
  const rejectPoison = "ALTER TABLE plants ADD CHECK (name <> 'poison')";
  return { name: server.name, url: server.url, dialect, rejectPoison, stores } satisfies Engine & { url: string };
}

/** Returns the store in a SQLite file. */
export function sqliteStore(path: string): Required<TestStore> & { readonly path: string } {
  const use = async <Result>(work: (file: SqliteFile) => Promise<Result>) => {
    const file = await SqliteFile.open(path);
    return work(file).finally(() => file.close());
  };
  return {
    path,
    url: `sqlite:${path}`,
    run: (sql) => use((file) => file.exec(sql)),
    async readPlants() {
      const rows = await use((file) => file.all("SELECT '' || id AS id, name, tag FROM plants ORDER BY plants.id"));
      return rows.map(fromRow);
    },
    async checkIntegrity() {
      const rows = await use((file) => file.all('PRAGMA integrity_check'));
      return rows.map((row) => `${row['integrity_check']}`).filter((text) => text !== 'ok');
    },
  };
}

/** Returns the store in a database of a server, accessed through `knex`. */
export function serverStore(url: string, knex: Knex): TestStore {
  return { url, run: (sql) => knex.raw(sql).then(), readPlants: () => readTable(knex, 'plants') };
}

/** Reads the plants in a table of a server, ascending by id. */
export async function readTable(knex: Knex, table: string): Promise<TestPlant[]> {
  // As a string: a JavaScript number may not represent the id.
  const id = knex.raw("concat(id, '') AS id");
  return (await knex(table).select(id, 'name', 'tag').orderBy('plants.id')).map(fromRow);
}
