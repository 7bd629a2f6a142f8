import { join } from 'node:path';
import type { Knex } from 'knex';
import { TEXT_FIELDS } from '../../core/index.js';
import type { TestPlant } from './client.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from './database-servers.js';
import { fromRow } from './plants.js';
import { SqliteFile } from './sqlite-file.js';
import { temporaryFolder } from './temporary.js';

/** Direct access to the database of a service. */
export interface TestStore {
  /** The `DATABASE_URL` of the service. */
  readonly url: string;
  /** Reads every plant, ascending by id. */
  readPlants(): Promise<TestPlant[]>;
  /** Runs the engine's integrity check and returns the errors that it reports. */
  checkIntegrity(): Promise<readonly string[]>;
  /** Makes the engine reject plants named `poison`. */
  rejectPoison(): Promise<void>;
}

/** SQLite cannot add a constraint to a table. */
const REJECT_POISON = `
  CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
  BEGIN SELECT RAISE(ABORT, 'poisoned'); END`;

/** A database engine under test. */
export interface TestEngine {
  readonly name: string;
  /** Creates stores for the surrounding suite, which removes them at its end. Call it inside `describe`. */
  stores(): { create(): Promise<TestStore> };
}

export const sqliteEngine: TestEngine = {
  name: 'SQLite',
  stores: () => {
    const folder = temporaryFolder();
    let files = 0;
    return { create: async () => sqliteStore(join(folder, `${++files}.db`)) };
  },
};

export const postgresEngine: TestEngine = onServer(postgresServer);
export const mariadbEngine: TestEngine = onServer(mariadbServer);

const engines = new Map([
  ['sqlite', sqliteEngine],
  ['postgres', postgresEngine],
  ['mariadb', mariadbEngine],
]);

/** Engines under test: the comma-separated names in `TEST_ENGINES`, SQLite by default. */
export const testEngines: readonly TestEngine[] = (process.env['TEST_ENGINES'] ?? 'sqlite').split(',').map((name) => {
  const engine = engines.get(name);
  if (engine) return engine;
  throw new Error(
    `TEST_ENGINES=${process.env['TEST_ENGINES']} must be a comma-separated list of ${[...engines.keys()].join(', ')}`,
  );
});

/** Returns the store in a SQLite file. */
export function sqliteStore(path: string): TestStore {
  const withFile = async <T>(work: (file: SqliteFile) => Promise<T>) => {
    const file = await SqliteFile.open(path);
    return work(file).finally(() => file.close());
  };
  return {
    url: `sqlite:${path}`,
    readPlants: () => withFile((file) => file.readPlants()),
    checkIntegrity: () => withFile((file) => file.checkIntegrity()),
    rejectPoison: () => withFile((file) => file.exec(REJECT_POISON)),
  };
}

/** Returns the store in a server database, accessed through `knex`. */
export function serverStore(url: string, client: DatabaseServer['client'], knex: Knex): TestStore {
  const toText = client === 'pg' ? 'CAST(id AS TEXT)' : 'CAST(id AS CHAR)';
  return {
    url,
    readPlants: async () => {
      const rows: Parameters<typeof fromRow>[0][] = await knex('plants')
        .select(knex.raw(`${toText} AS id`), ...TEXT_FIELDS)
        .orderBy('plants.id');
      return rows.map(fromRow);
    },
    checkIntegrity: async () => {
      if (client === 'pg') {
        const [byIndex, byTable] = [await digestPlants(knex, 'index'), await digestPlants(knex, 'table')];
        return byIndex === byTable ? [] : [`the index has ${byIndex}, the table ${byTable}`];
      }
      const [rows] = await knex.raw('CHECK TABLE plants EXTENDED');
      return rows.map(({ Msg_text }: { Msg_text: string }) => Msg_text).filter((text: string) => text !== 'OK');
    },
    rejectPoison: async () => knex.raw("ALTER TABLE plants ADD CHECK (name <> 'poison')"),
  };
}

/** Computes a digest of PostgreSQL's plants, read through the index or from the table. */
async function digestPlants(knex: Knex, source: 'index' | 'table'): Promise<string> {
  const disabled = source === 'index' ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan'];
  for (const setting of disabled) await knex.raw(`SET enable_${setting} = off`);
  const texts = TEXT_FIELDS.map((field) => `coalesce(${field}, '')`).join(' || ');
  const { rows } = await knex.raw(
    `SELECT count(*) || ' ' || md5(string_agg(id || ${texts}, '' ORDER BY id)) AS digest FROM plants`,
  );
  for (const setting of disabled) await knex.raw(`RESET enable_${setting}`);
  return rows[0].digest;
}

function onServer(server: DatabaseServer): TestEngine {
  return {
    name: server.name,
    stores: () => {
      const databases = databasesOn(server);
      return {
        create: async () => {
          const url = await databases.create();
          return serverStore(url, server.client, databases.connect(url));
        },
      };
    },
  };
}
