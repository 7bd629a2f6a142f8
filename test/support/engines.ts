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
import { after, before } from 'mocha';
import { connectTo, isAvailable } from './database-servers.js';
import { fromRow, type TestPlant } from './plants.js';
import { skipUnless } from './skip-unless.js';
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
  /** The npm package of its driver. */
  readonly client: 'sqlite3' | 'pg' | 'mysql2';
  /** SQL that makes the engine reject plants with the name `poison`. */
  readonly rejectPoison: string;
  /** Creates stores for the surrounding suite, which removes them. Call it inside `describe`. */
  stores(): {
    create(): Promise<TestStore>;
    /** Opens a storage that the suite closes. */
    open(store: Pick<TestStore, 'url'>, options?: StoreOptions): Promise<KnexStorage>;
  };
}

type StoreOptions = Omit<SqliteOptions & ServerOptions, 'path' | 'url'>;

export const sqliteEngine = {
  name: 'SQLite',
  client: 'sqlite3',
  // SQLite cannot add a constraint to a table.
  rejectPoison: `CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
  stores() {
    const { open } = suiteResources();
    const folder = temporaryFolder();
    let files = 0;
    const create = async () => sqliteStore(join(folder, `${++files}.db`));
    return { create, open };
  },
} satisfies Engine;
export const postgresEngine = onServer('PostgreSQL', 'postgres://postgres@127.0.0.1:5432/postgres');
export const mariadbEngine = onServer('MariaDB', 'mysql://root@127.0.0.1:3306/mysql');
// test/servers.sh may not be able to download these.
const newestPostgresEngine = onServer('PostgreSQL 18', 'postgres://postgres@127.0.0.1:5433/postgres', true);
export const mysqlEngine = onServer('MySQL 9.7', 'mysql://root@127.0.0.1:3307/mysql', true);

/** The servers, which create users, too. */
export const serverEngines = [postgresEngine, newestPostgresEngine, mariadbEngine, mysqlEngine];
const { TEST_TIER } = process.env;
/** The engines of the tier. A test file on the command line runs on every engine that is available. */
export const enginesOfTier: readonly Engine[] = [
  ...(TEST_TIER === 'engines' ? [] : [sqliteEngine]),
  ...(TEST_TIER === undefined || TEST_TIER === 'engines' ? serverEngines : []),
];

let names = 0;

/**
 * An engine on a server, whose suites are skipped if it is unavailable.
 * @param url of an existing database, with a user who may create databases
 * @param isOptional Whether the suites are skipped in CI, too.
 */
function onServer(name: string, url: string, isOptional = false) {
  const isPostgres = url.startsWith('postgres:');
  const client = isPostgres ? 'pg' : 'mysql2';
  const newName = () => `plant_store_test_${process.pid}_${++names}`;
  const stores = () => {
    const admin = connectTo({ client, url });
    const { open, cleanUps } = suiteResources();
    cleanUps.push(() => admin.destroy());
    before(async function () {
      skipUnless(this, await isAvailable(admin), `${name} at ${new URL(url).host}`, isOptional);
    });

    const create = async () => {
      const database = newName();
      // In MariaDB, a synonym of a database. PostgreSQL drops a schema in milliseconds, but a database in seconds.
      await admin.raw(`CREATE SCHEMA ${database}`);
      const { href } = isPostgres ? new URL(`?options=-c search_path=${database}`, url) : new URL(database, url);
      const knex = connectTo({ client, url: href });
      cleanUps.push(() => admin.raw(`DROP SCHEMA ${database} ${isPostgres ? 'CASCADE' : ''}`));
      cleanUps.push(() => knex.destroy());
      return { ...serverStore(href, knex), database };
    };
    /** Creates a user with all rights in the database of a store. Returns the name, and the URL with it. */
    const createUser = async ({ database, url }: Awaited<ReturnType<typeof create>>, options = '') => {
      const username = newName();
      const statements = isPostgres
        ? [
            `CREATE ROLE ${username} LOGIN ${options}`,
            `GRANT ALL ON SCHEMA ${database} TO ${username}`,
            `GRANT ALL ON ALL TABLES IN SCHEMA ${database} TO ${username}`,
          ]
        : [`CREATE USER ${username} ${options}`, `GRANT ALL ON ${database}.* TO ${username}`];
      for (const statement of statements) await admin.raw(statement);
      cleanUps.push(() => admin.raw(`DROP USER ${username}`));
      if (isPostgres) cleanUps.push(() => admin.raw(`DROP OWNED BY ${username}`));
      return { username, url: Object.assign(new URL(url), { username }).href };
    };
    return { admin, create, createUser, open };
  };
  const rejectPoison = "ALTER TABLE plants ADD CHECK (name <> 'poison')";
  return { name, client, url, rejectPoison, stores } satisfies Engine & { readonly url: string };
}

/** Returns what opens storages for the surrounding suite, and a list of what the suite calls at its end, the latest first. */
function suiteResources() {
  const cleanUps: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  });
  const open = async ({ url }: Pick<TestStore, 'url'>, options?: StoreOptions) => {
    const storage = await openStore(url, options);
    cleanUps.push(() => storage.close());
    return storage;
  };
  return { open, cleanUps };
}

/** Opens the storage at the URL of a store, without the service. */
export function openStore(url: string, options: StoreOptions = {}): Promise<KnexStorage> {
  if (url.startsWith('sqlite:')) return openSqlite({ path: url.replace('sqlite:', ''), ...options });
  return url.startsWith('postgres:') ? openPostgres({ url, ...options }) : openMysql({ url, ...options });
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
