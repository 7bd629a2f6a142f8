import { resolve } from 'node:path';
import { isStorageUnavailable, type PlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';
import { MissingDriver, toCode, toCodes, toMessage, toStorageUnavailable } from './driver-errors.js';
import { KnexPlantRepository, type MakeCall, retryWhileBusy } from './knex-plant-repository.js';
import { configureMysql, mysql, parseMysqlUrl } from './mysql.js';
import { configurePostgres, parsePostgresUrl, postgres } from './postgres.js';
import { selectRows } from './rows.js';
import { migrate, readFindings, readSchema, type SchemaState } from './schema.js';
import { sqlite } from './sqlite.js';
import { chooseDriver, configureSqlite } from './sqlite-file.js';

/** Inserts no row, but fails like an insert if the server is read-only or a privilege is missing. */
const EMPTY_INSERT = 'INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM plants WHERE false';

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
export interface KnexStorage extends PlantRepository, SchemaState {
  /** A connection pool for {@link joinTransaction}, and for rows of the caller. `close` waits for its transactions. */
  readonly knex: Knex;
  /** The name of the database, without a password. */
  readonly name: string;
  /** The npm package of the driver, or `node:sqlite`. */
  readonly driver: string;
  /** Number of batches to write concurrently, see docs/decisions/0003-group-commit.md. */
  readonly maxWrites: number;
  /** A sentence that names the settings with which the server acknowledges plants before they are durable. */
  readonly warning: string | undefined;
  /**
   * Checks that plants can be read. At first and after a call that failed, also commits an insert of no row and a small
   * write, unless the database is only read.
   * @throws {StorageUnavailable}
   */
  ready(): Promise<void>;
  /** Waits for calls in flight, then closes. Idempotent. Later calls throw `StorageUnavailable`, even `add([])`. */
  close(): Promise<void>;
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
    const config = { client: driver, acquireConnectionTimeout: timeoutMs, ...(await configure(timeoutMs)) };
    return await retryWhileBusy(dialect, timeoutMs, async () => {
      const { ownKnex, repository, ...others } = await createStorage(config, dialect, timeoutMs, readOnly);
      try {
        const schema = await (readOnly ? readSchema(ownKnex, dialect) : migrate(ownKnex, dialect));
        const settings = readOnly ? [] : await readFindings(ownKnex, dialect.nonDurableSettings);
        const warning = settings.length > 0 ? `${NOT_DURABLE}: ${settings.join(', ')}` : undefined;
        return Object.assign(repository, database, schema, others, { warning });
      } catch (error) {
        await others.close();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MissingDriver) throw error;
    if (/MODULE_NOT_FOUND$/.test(toCode(error))) throw new MissingDriver('Knex is not installed: npm install knex');
    if (error instanceof Error && error.message.startsWith('Knex: run'))
      throw new MissingDriver(`the driver ${driver} is not installed: npm install ${driver}`);
    const cause = isStorageUnavailable(error) ? error.cause : toCodes(error);
    throw new StorageUnavailable(`cannot open ${name}: ${toMessage(error)}`, { cause });
  }
}

/** Creates a storage. Its caller has another Knex, because a caller may leave a transaction open or change a session. */
async function createStorage(config: Knex.Config, dialect: Dialect, timeoutMs: number, readOnly: boolean) {
  // Loaded here, because programs that only parse settings do not need it.
  const { default: knexFactory } = await import('knex');
  // After a failure, no older connection is used again: a session keeps the privileges and settings with which it began.
  const createKnex = (pool: Knex.PoolConfig, countFailures: () => number) => {
    const failuresBefore = new WeakMap<object, number>();
    const validate = (connection: object) => {
      if (!failuresBefore.has(connection)) failuresBefore.set(connection, countFailures());
      return failuresBefore.get(connection) === countFailures();
    };
    return knexFactory({
      // Keep a statement's values out of the log and of error messages.
      compileSqlOnError: false,
      log: { warn() {}, error() {}, deprecate() {}, debug() {} },
      ...config,
      pool: { ...config.pool, ...pool, validate },
    });
  };
  let failures = 0;
  let callersFailures = 0;
  const ownKnex = createKnex({}, () => failures);
  // An idle connection closes, because the caller may have left a transaction open on it.
  const knex = createKnex({ min: 0, idleTimeoutMillis: timeoutMs }, () => failures + callersFailures);
  knex.on('query-error', (error, { sql }) => {
    // After a COMMIT that fails, the transaction may stay open.
    if (sql === 'COMMIT;' || dialect.classify(error) === 'unavailable') callersFailures++;
  });

  const calls = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const makeCall: MakeCall = async (work) => {
    if (closing) throw new StorageUnavailable('the repository is closed');
    const call = work();
    calls.add(call);
    try {
      return await call;
    } catch (error) {
      failures++;
      throw toStorageUnavailable(error);
    } finally {
      calls.delete(call);
    }
  };
  /** The number of failures before the last write of `ready` that succeeded. */
  let failuresAtWrite = -1;
  const checkReadiness = async () => {
    const before = failures;
    await selectRows(ownKnex, dialect, 'id = 0');
    if (readOnly || failuresAtWrite === before) return;
    for (const write of [EMPTY_INSERT, dialect.syncWrite])
      await retryWhileBusy(dialect, timeoutMs, async () => ownKnex.raw(write));
    failuresAtWrite = before;
  };
  const destroyAll = async () => {
    await Promise.allSettled(calls);
    await knex.destroy();
    // Not at the same time: SQLite removes the write-ahead log when the last connection closes.
    await ownKnex.destroy();
  };
  return {
    ownKnex,
    knex,
    repository: new KnexPlantRepository(ownKnex, dialect, makeCall, timeoutMs),
    ready: () => makeCall(checkReadiness),
    close: () => (closing ??= destroyAll()),
  };
}
