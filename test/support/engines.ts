import { join } from 'node:path';
import type { Knex } from 'knex';
import { type KnexStorage, openMysql, openPostgres, openSqlite } from '../../adapters/driven/knex/index.js';
import {
  type DatabaseServer,
  databasesOn,
  mariadbServer,
  mysqlServer,
  newestPostgresServer,
  postgresServer,
} from './database-servers.js';
import { fromRow, type TestPlant } from './plants.js';
import { SqliteFile } from './sqlite-file.js';
import { temporaryFolder } from './temporary.js';

/** Direct access to the database of a service. */
export interface TestStore {
  /** The `DATABASE_URL` of the service. */
  readonly url: string;
  /** Reads every plant, ascending by id. */
  readPlants(): Promise<TestPlant[]>;
  /** Returns the errors in SQLite's file. Absent for servers, because they alone write their files. */
  checkIntegrity?(): Promise<string[]>;
}

/** An engine. `stores` creates stores for the surrounding suite, which removes them. Call it inside `describe`. */
export const sqliteEngine = {
  name: 'SQLite',
  stores() {
    const folder = temporaryFolder();
    let files = 0;
    return { create: async (): Promise<TestStore> => sqliteStore(join(folder, `${++files}.db`)) };
  },
};
export const postgresEngine = onServer(postgresServer);
export const mariadbEngine = onServer(mariadbServer);
export const mysqlEngine = onServer(mysqlServer);
/** The engines that the tests of the tier run on: its servers, or SQLite. */
export const enginesOfTier: readonly (typeof sqliteEngine)[] =
  process.env['TEST_TIER'] === 'engines'
    ? [postgresEngine, onServer(newestPostgresServer), mariadbEngine, mysqlEngine]
    : [sqliteEngine];

/** Opens the storage at the URL of a store, without the service. */
export function openStore(url: string): Promise<KnexStorage> {
  if (url.startsWith('sqlite:')) return openSqlite({ path: url.replace('sqlite:', '') });
  return url.startsWith('postgres:') ? openPostgres({ url }) : openMysql({ url });
}

function onServer(server: DatabaseServer): typeof sqliteEngine {
  const stores = () => {
    const databases = databasesOn(server);
    const create = async () => {
      const url = await databases.create();
      return serverStore(url, databases.connect(url));
    };
    return { create };
  };
  return { name: server.name, stores };
}

/** Returns the store in a SQLite file. `rejectPoison` makes SQLite reject plants of that name. */
export function sqliteStore(path: string): Required<TestStore> & { rejectPoison(): Promise<unknown> } {
  const query = async (sql: string) => {
    const file = await SqliteFile.open(path);
    return file.all(sql).finally(() => file.close());
  };
  return {
    url: `sqlite:${path}`,
    readPlants: async () =>
      (await query("SELECT '' || id AS id, name, tag FROM plants ORDER BY plants.id")).map(fromRow),
    // SQLite cannot add a constraint to a table.
    rejectPoison: () =>
      query(`CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
        BEGIN SELECT RAISE(ABORT, 'poisoned'); END`),
    checkIntegrity: async () => {
      const rows = await query('PRAGMA integrity_check');
      return rows.map((row) => `${row['integrity_check']}`).filter((text) => text !== 'ok');
    },
  };
}

/** Returns the store in a database of a server, accessed through `knex`. */
export function serverStore(url: string, knex: Knex): TestStore {
  return { url, readPlants: () => readTable(knex, 'plants') };
}

/** Reads the plants in a table of a server, ascending by id. */
export async function readTable(knex: Knex, table: string): Promise<TestPlant[]> {
  // As a string: a JavaScript number may not represent the id.
  const id = knex.raw("concat(id, '') AS id");
  return (await knex(table).select(id, 'name', 'tag').orderBy('plants.id')).map(fromRow);
}
