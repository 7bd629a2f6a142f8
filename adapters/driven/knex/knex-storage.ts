import { resolve } from 'node:path';
import { type OpenPlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import { Connections } from './connections.js';
import type { Dialect } from './dialect.js';
import { MissingDriver, toCodes, toMessage, toStorageUnavailable } from './driver-errors.js';
import { KnexPlantRepository, retryWhileBusy } from './knex-plant-repository.js';
import { configureMysql, mysql, parseMysqlUrl } from './mysql.js';
import { configurePostgres, parsePostgresUrl, postgres } from './postgres.js';
import { migrate, readFindings, readSchema, type SchemaState } from './schema.js';
import { InvalidServerUrl } from './server-url.js';
import { sqlite } from './sqlite.js';
import { chooseDriver, configureSqlite } from './sqlite-file.js';

const NOT_DURABLE = 'the database acknowledges plants before they are durable; a power cut or failover may lose them';

/** Options of any database. */
export interface DatabaseOptions {
  /** Maximum milliseconds to wait for a lock, a connection or (PostgreSQL and MariaDB) a statement. @default 10000 */
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
export interface KnexStorage extends OpenPlantRepository, SchemaState {
  /** A connection pool for {@link joinTransaction}, and for rows of the caller. `close` waits for its transactions. */
  readonly knex: Knex;
  /** The name of the database, without a password. */
  readonly name: string;
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches to write concurrently, see docs/decisions/0003-group-commit.md. */
  readonly maxWrites: number;
  /** Which server is read-only, and the settings with which it acknowledges plants before they are durable. */
  readonly warnings: readonly string[];
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
    configureSqlite(file, driver, mustExist, options.readOnly),
  );
}

/**
 * Opens a PostgreSQL database and migrates its schema. Throws as {@link openSqlite} does.
 * @throws {InvalidServerUrl}
 */
export async function openPostgres({ url, maxConnections, ...options }: ServerOptions): Promise<KnexStorage> {
  const { name, settings } = parsePostgresUrl(url);
  return open(postgres, { driver: 'pg', name, maxWrites: 2 }, options, (timeoutMs) =>
    configurePostgres(settings, timeoutMs, maxConnections),
  );
}

/**
 * Opens a MySQL or MariaDB database and migrates its schema. Throws as {@link openSqlite} does.
 * @throws {InvalidServerUrl}
 */
export async function openMysql({ url, maxConnections, ...options }: ServerOptions): Promise<KnexStorage> {
  const { name, settings } = parseMysqlUrl(url);
  return open(mysql, { driver: 'mysql2', name, maxWrites: 2 }, options, (timeoutMs) =>
    configureMysql(settings, timeoutMs, maxConnections),
  );
}

/** Opens a database. Retries with new connections while the engine is busy. */
async function open(
  dialect: Dialect,
  database: Pick<KnexStorage, 'driver' | 'name' | 'maxWrites'>,
  { timeoutMs = 10_000, readOnly = false }: DatabaseOptions,
  configure: (timeoutMs: number) => Knex.Config | Promise<Knex.Config>,
): Promise<KnexStorage> {
  const { driver, name } = database;
  try {
    // Loaded here, because programs that only parse settings do not need it.
    const { default: createKnex } = await import('knex');
    const config = { client: driver, acquireConnectionTimeout: timeoutMs, ...(await configure(timeoutMs)) };
    return await retryWhileBusy(dialect, timeoutMs, async () => {
      const own = new Connections(createKnex, config, dialect);
      try {
        const schema = await (readOnly ? readSchema(own.knex, dialect) : migrate(own.knex, dialect));
        const warnings = [...(await readFindings(own.knex, dialect.readOnlyServer))];
        const settings = readOnly ? [] : await readFindings(own.knex, dialect.nonDurableSettings);
        if (settings.length > 0) warnings.push(`${NOT_DURABLE}: ${settings.join(', ')}`);
        // A pool of its own, because a caller may change a session, or leave a transaction open until it is idle.
        const pool = { ...config.pool, min: 0, idleTimeoutMillis: timeoutMs };
        const callers = new Connections(createKnex, { ...config, pool }, dialect);
        const repository = new KnexPlantRepository(own.knex, dialect, own, { timeoutMs, readOnly });
        const close = () => own.close(callers);
        return Object.assign(repository, { ...database, ...schema, warnings, knex: callers.knex, close });
      } catch (error) {
        await own.knex.destroy();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MissingDriver || error instanceof InvalidServerUrl) throw error;
    const { cause } = toStorageUnavailable(error);
    if (/MODULE_NOT_FOUND$/.test(toCodes(error).code))
      throw new MissingDriver('Knex is not installed: npm install knex');
    if (error instanceof Error && error.message.startsWith('Knex: run'))
      throw new MissingDriver(`the driver ${driver} is not installed: npm install ${driver}`);
    throw new StorageUnavailable(`cannot open ${name}: ${toMessage(error)}`, { cause });
  }
}
