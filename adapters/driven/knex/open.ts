import { resolve } from 'node:path';
import { StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { MissingDriver, toCode, toCodes, toReason } from './driver-errors.js';
import { KnexPlantStorage, type KnexStorage, retryWhileBusy } from './knex-plant-storage.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { migrate, readSchema } from './schema.js';
import { toMysqlConfig, toPostgresConfig } from './server-connection.js';
import { toMysqlName, toPostgresName } from './server-url.js';
import { sqlite } from './sqlite.js';
import { chooseDriver, toSqliteConfig } from './sqlite-connection.js';

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

/**
 * Opens a SQLite file and migrates its schema. Uses `sqlite3` if it can be loaded, otherwise `node:sqlite`.
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The message has the reason, and `cause` the driver's codes.
 */
export function openSqlite({ path, mustExist = false, ...options }: SqliteOptions): Promise<KnexStorage> {
  const file = resolve(path);
  const driver = chooseDriver();
  return open(sqlite, { driver, name: `sqlite:${file}`, maxWrites: 1 }, options, () =>
    toSqliteConfig(file, driver, mustExist, options.readOnly),
  );
}

/**
 * Opens a PostgreSQL database and migrates its schema.
 * @throws {InvalidServerUrl}
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The message has the reason, and `cause` the driver's codes.
 */
export async function openPostgres({ url, maxConnections, ...options }: ServerOptions): Promise<KnexStorage> {
  return open(postgres, { driver: 'pg', name: toPostgresName(url), maxWrites: 2 }, options, (timeoutMs) =>
    toPostgresConfig(url, timeoutMs, maxConnections),
  );
}

/**
 * Opens a MySQL or MariaDB database and migrates its schema.
 * @throws {InvalidServerUrl}
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The message has the reason, and `cause` the driver's codes.
 */
export async function openMysql({ url, maxConnections, ...options }: ServerOptions): Promise<KnexStorage> {
  return open(mysql, { driver: 'mysql2', name: toMysqlName(url), maxWrites: 2 }, options, (timeoutMs) =>
    toMysqlConfig(url, timeoutMs, maxConnections),
  );
}

/** Opens a database, again while the engine is busy, each time with new connections. */
async function open(
  dialect: Dialect,
  database: Pick<KnexStorage, 'driver' | 'name' | 'maxWrites'>,
  { timeoutMs = 10_000, readOnly = false }: DatabaseOptions,
  configure: (timeoutMs: number) => Knex.Config | Promise<Knex.Config>,
): Promise<KnexStorage> {
  const { driver, name } = database;
  try {
    const config = { client: driver, acquireConnectionTimeout: timeoutMs, ...(await configure(timeoutMs)) };
    // An idle connection closes, because the caller may have left a transaction open on it.
    const callersConfig = { ...config, pool: { ...config.pool, min: 0, idleTimeoutMillis: timeoutMs } };
    return await retryWhileBusy(dialect, timeoutMs, async () => {
      const pool = await createKnex(config);
      try {
        const schema = await (readOnly ? readSchema(pool, dialect) : migrate(pool, dialect));
        const warning = readOnly ? undefined : await readWarning(pool, dialect);
        const knex = await createKnex(callersConfig);
        return new KnexPlantStorage(pool, dialect, timeoutMs, readOnly, { ...database, ...schema, warning, knex });
      } catch (error) {
        await pool.destroy();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MissingDriver) throw error;
    if (/MODULE_NOT_FOUND$/.test(toCode(error))) throw new MissingDriver('Knex is not installed: npm install knex');
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

/** Returns a warning if the engine acknowledges plants before they are durable; it names the settings. */
async function readWarning(knex: Knex, { nonDurableSettings }: Dialect): Promise<string | undefined> {
  if (nonDurableSettings === undefined) return undefined;
  const settings: string[] = await knex.from(knex.raw(`(${nonDurableSettings}) AS settings`)).pluck('setting');
  if (settings.length === 0) return undefined;
  return `the database acknowledges plants before they are durable; a power cut or a failover may lose them: ${settings.join(', ')}`;
}
