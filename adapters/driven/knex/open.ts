import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { Knex } from 'knex';
import { type PlantStorage, StorageUnavailable } from '../../../core/index.js';
import type { Dialect } from './dialect.js';
import { toCode, toCodes, toReason } from './driver-errors.js';
import { KnexPlantStorage, retryWhileBusy } from './knex-plant-storage.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { migrate, readSchema, readWarning, type SchemaState } from './schema.js';
import { toMysqlConfig, toPostgresConfig } from './server-connection.js';
import { toMysqlName, toPostgresName } from './server-url.js';
import { sqlite } from './sqlite.js';

const DEFAULT_TIMEOUT_MS = 10_000;

/** The driver of a database is not installed. The message says what to do. */
export class MissingDriver extends Error {
  override readonly name = 'MissingDriver';
}

/** Options of any database. */
export interface DatabaseOptions {
  /**
   * Maximum time to wait for a lock or a connection and, on PostgreSQL and MariaDB, for a statement, in milliseconds.
   * @default 10000
   */
  readonly timeoutMs?: number | undefined;
  /** Whether the storage will only be read. If so, creates and migrates nothing. @default false */
  readonly readOnly?: boolean | undefined;
}

/** Options of {@link openSqlite}. */
export interface SqliteOptions extends DatabaseOptions {
  /** The file. Created if missing, accessible to its owner only; its folder must exist. */
  readonly path: string;
  /** Whether opening fails instead of creating a missing file. @default false */
  readonly mustExist?: boolean | undefined;
}

/** Options of {@link openPostgres} and {@link openMysql}. */
export interface ServerOptions extends DatabaseOptions {
  /** `docs/databases.md` lists its parameters. */
  readonly url: string;
  /** Maximum number of connections of the storage, and of `knex`. @default 10 */
  readonly maxConnections?: number | undefined;
}

/** An open database. */
export interface KnexStorage extends PlantStorage, SchemaState {
  /** A connection pool for {@link joinTransaction}, and for rows of the caller. `close` waits for its transactions. */
  readonly knex: Knex;
  /** The name of the database, without a password. */
  readonly name: string;
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches to write concurrently; measured, see docs/decisions/0003-group-commit.md. */
  readonly maxWrites: number;
  /** Set if the server acknowledges plants before they are durable; names the settings. */
  readonly warning: string | undefined;
}

/**
 * Opens a SQLite file and migrates its schema. Uses `sqlite3` if it can be loaded, otherwise `node:sqlite`.
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The file cannot be opened. The message has the reason, and `cause` the driver's codes.
 */
export function openSqlite({ path, mustExist = false, ...options }: SqliteOptions): Promise<KnexStorage> {
  const file = resolve(path);
  const driver = canLoadSqlite3() ? 'sqlite3' : 'node:sqlite';
  return open(sqlite, { driver, name: `sqlite:${file}`, maxWrites: 1 }, options, async () => {
    prepareFile(file, mustExist, options.readOnly);
    // Opened for reading, a missing file is a store without a schema.
    const connection = { filename: existsSync(file) ? file : ':memory:' };
    return { client: await loadSqliteClient(driver), connection, useNullAsDefault: true };
  });
}

/**
 * Opens a PostgreSQL database and migrates its schema.
 * @throws {InvalidServerUrl}
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The database cannot be opened. The message has the reason, and `cause` the driver's codes.
 */
export async function openPostgres({ url, maxConnections = 10, ...options }: ServerOptions): Promise<KnexStorage> {
  return open(postgres, { driver: 'pg', name: toPostgresName(url), maxWrites: 2 }, options, (timeoutMs) =>
    toPostgresConfig({ url, timeoutMs, maxConnections }),
  );
}

/**
 * Opens a MySQL or MariaDB database and migrates its schema.
 * @throws {InvalidServerUrl}
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The database cannot be opened. The message has the reason, and `cause` the driver's codes.
 */
export async function openMysql({ url, maxConnections = 10, ...options }: ServerOptions): Promise<KnexStorage> {
  return open(mysql, { driver: 'mysql2', name: toMysqlName(url), maxWrites: 2 }, options, (timeoutMs) =>
    toMysqlConfig({ url, timeoutMs, maxConnections }),
  );
}

async function open(
  dialect: Dialect,
  database: Pick<KnexStorage, 'driver' | 'name' | 'maxWrites'>,
  { timeoutMs = DEFAULT_TIMEOUT_MS, readOnly = false }: DatabaseOptions,
  configure: (timeoutMs: number) => Knex.Config | Promise<Knex.Config>,
): Promise<KnexStorage> {
  const { driver, name } = database;
  try {
    const config = { client: driver, acquireConnectionTimeout: timeoutMs, ...(await configure(timeoutMs)) };
    return await retryWhileBusy(dialect, timeoutMs, async () => {
      const knex = await createKnex(config);
      // An idle connection closes, because the caller may have left a transaction open on it.
      const callersPool = await createKnex({
        ...config,
        pool: { ...config.pool, min: 0, idleTimeoutMillis: timeoutMs },
      });
      const storage = new KnexPlantStorage(knex, callersPool, dialect, timeoutMs, readOnly);
      try {
        const schema = await (readOnly ? readSchema(knex, dialect) : migrate(knex, dialect));
        const warning = readOnly ? undefined : await readWarning(knex, dialect);
        return Object.assign(storage, database, schema, { warning });
      } catch (error) {
        await storage.close();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MissingDriver) throw error;
    throw new StorageUnavailable(`cannot open ${name}: ${toReason(error)}`, { cause: toCodes(error) });
  }
}

async function createKnex(config: Knex.Config): Promise<Knex> {
  // Loaded here, because programs that only parse settings do not need it.
  const { default: knexFactory } = await import('knex');
  // Keeps a statement's values out of the log and of error messages.
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  try {
    return knexFactory({ compileSqlOnError: false, log, ...config });
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('npm install'))) throw error;
    throw new MissingDriver(`the driver ${config.client} is not installed: npm install ${config.client}`);
  }
}

async function loadSqliteClient(driver: string): Promise<typeof Knex.Client> {
  if (driver === 'sqlite3') return (await import('./sqlite3-client.js')).Sqlite3Client;
  if (isBuiltin(driver)) return (await import('./node-sqlite-client.js')).NodeSqliteClient;
  throw new MissingDriver(
    `Node ${process.versions.node} has no node:sqlite, and sqlite3 cannot be loaded; use Node 22.13 or newer, or npm install sqlite3, whose install script npm 12 runs only after npm install-scripts approve sqlite3`,
  );
}

function canLoadSqlite3(): boolean {
  try {
    createRequire(import.meta.url)('sqlite3');
    return true;
  } catch {
    return false;
  }
}

/** Creates a missing file, unless it must exist or is only read. SQLite's own error does not name the folder. */
function prepareFile(file: string, mustExist: boolean, readOnly = false): void {
  const folder = dirname(file);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new StorageUnavailable(`the folder ${folder} is missing or not writable (${toCode(error)})`);
  }
  if (existsSync(file)) return;
  if (mustExist) throw new StorageUnavailable('it does not exist');
  if (!readOnly) closeSync(openSync(file, 'a', 0o600));
}
