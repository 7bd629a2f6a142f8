import { resolve } from 'node:path';
import { StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { MissingDriver, toCode, toCodes, toReason } from './driver-errors.js';
import { retryWhileBusy } from './knex-plant-repository.js';
import { createStorage, type KnexStorage } from './knex-storage.js';
import { mysql, parseMysqlUrl, toMysqlConfig } from './mysql.js';
import { parsePostgresUrl, postgres, toPostgresConfig } from './postgres.js';
import { migrate, readFindings, readSchema } from './schema.js';
import { sqlite } from './sqlite.js';
import { chooseDriver, toSqliteConfig } from './sqlite-file.js';

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
export async function openPostgres({ url, maxConnections = 10, ...options }: ServerOptions): Promise<KnexStorage> {
  const { name, settings } = parsePostgresUrl(url);
  return open(postgres, { driver: 'pg', name, maxWrites: 2 }, options, (timeoutMs) =>
    toPostgresConfig(settings, timeoutMs, maxConnections),
  );
}

/**
 * Opens a MySQL or MariaDB database and migrates its schema.
 * @throws {InvalidServerUrl}
 * @throws {MissingDriver}
 * @throws {StorageUnavailable} The message has the reason, and `cause` the driver's codes.
 */
export async function openMysql({ url, maxConnections = 10, ...options }: ServerOptions): Promise<KnexStorage> {
  const { name, settings } = parseMysqlUrl(url);
  return open(mysql, { driver: 'mysql2', name, maxWrites: 2 }, options, (timeoutMs) =>
    toMysqlConfig(settings, timeoutMs, maxConnections),
  );
}

/** Opens a database, again while the engine is busy, each time with new connections. */
async function open(
  dialect: Dialect,
  database: Pick<KnexStorage, 'driver' | 'name' | 'maxWrites'>,
  { timeoutMs = 10_000, readOnly = false }: DatabaseOptions,
  configure: (timeoutMs: number) => Knex.Config | Promise<Knex.Config>,
): Promise<KnexStorage> {
  try {
    const config = { client: database.driver, acquireConnectionTimeout: timeoutMs, ...(await configure(timeoutMs)) };
    return await retryWhileBusy(dialect, timeoutMs, async () => {
      const { pool, ...storage } = await createStorage(config, dialect, timeoutMs, readOnly);
      try {
        const schema = await (readOnly ? readSchema(pool, dialect) : migrate(pool, dialect));
        const settings = readOnly ? [] : await readFindings(pool, dialect.nonDurableSettings);
        return { ...database, ...schema, ...storage, warning: toWarning(settings) };
      } catch (error) {
        await storage.close();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MissingDriver) throw error;
    if (/MODULE_NOT_FOUND$/.test(toCode(error))) throw new MissingDriver('Knex is not installed: npm install knex');
    throw new StorageUnavailable(`cannot open ${database.name}: ${toReason(error)}`, { cause: toCodes(error) });
  }
}

function toWarning(settings: readonly string[]): string | undefined {
  if (settings.length === 0) return undefined;
  return `the database acknowledges plants before they are durable; a power cut or a failover may lose them: ${settings.join(', ')}`;
}
