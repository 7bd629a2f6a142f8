import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import { isPlantStoreError, type PlantRepository, StorageUnavailable } from '../../../core/index.js';
import { MonitoredPlantRepository, type StorageLifecycle, type StorageStatistics } from '../monitoring/index.js';
import { DriverError, type Engine, retryWhileBusy } from './engine.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { assertTables, migrate, readPending, type SchemaState } from './migrations.js';

const NOT_DURABLE = 'the database acknowledges plants before they are durable; a power cut or a failover may lose them';

const UNKNOWN_AUTHORITY =
  "the server's certificate is not from a known authority; name its file with sslrootcert (PostgreSQL) or its text with ca (MySQL)";

const CONNECT_ERROR_MESSAGES: Engine['openErrorMessages'] = {
  ECONNREFUSED: 'connection refused; check the address and that the server is running',
  ECONNRESET: 'the server closed the connection; check the address, the port and its log',
  EAI_AGAIN: 'the name server did not respond; check DNS',
  EHOSTUNREACH: 'no route to the server; check the address and the network',
  ENETUNREACH: 'no route to the server; check the address and the network',
  ENOTFOUND: 'unknown host name; check the address',
  ETIMEDOUT: 'the server did not respond in time; check the address and the port',
  KnexTimeoutError: 'the server did not respond in time; check the address and the port',
  // https://nodejs.org/api/tls.html#x509-certificate-error-codes
  CERT_HAS_EXPIRED: "the server's certificate has expired; renew it",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another host name; use that name in the URL",
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
};

/** A database to open. Create one with `sqliteDatabase`, `postgresDatabase` or `mysqlDatabase`. */
export interface Database {
  readonly engine: Engine;
  /** Name for messages, without a password. */
  readonly name: string;
  /** Prepares the files of the database, if any, and returns Knex's configuration. */
  readonly configure: () => Knex.Config | Promise<Knex.Config>;
  /** Maximum time for a statement, and for a wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  /** Open for reading only: creates no file, does not migrate; `add` may fail. */
  readonly readOnly?: boolean | undefined;
  /** Called with a warning, which names the settings, if the engine acknowledges writes before they are durable. */
  readonly warn?: ((warning: string) => void) | undefined;
  /** Returns the reason for an error with this code, if more is known than the engine's `openErrorMessages`. */
  readonly describeError?: (code: string) => string | undefined;
  /** The path of the file that opening creates if it is missing. */
  readonly fileToCreate?: string | undefined;
  readonly files?: StorageStatistics['files'];
}

/** An open database. */
export interface KnexStorage extends PlantRepository, StorageLifecycle {
  /** Whether opening created or migrated the schema, or found it current. */
  readonly schema: SchemaState;
  /** The name of the database, without a password. */
  readonly name: string;
  readonly driver: string;
  readonly maxWrites: number;
  readonly statistics: StorageStatistics;
}

/**
 * Opens a database and migrates its schema. A read-only database must be migrated already. The `ready` of any other
 * repository also checks writes, first after opening and then after each failed `add`.
 * @throws {StorageUnavailable} The database cannot be opened. The message has the reason.
 */
export function openRepository(database: Database): Promise<KnexStorage> {
  const { engine, name, readOnly, timeoutMs, files, warn } = database;
  return connect(database, async (knex) => {
    let schema: SchemaState = 'current';
    if (!readOnly) {
      schema = await migrate(knex, engine);
      await engine.checkpoint?.(knex, schema);
      const selectSettings = engine.nonDurableSettingsSql;
      const settings = selectSettings
        ? await knex.from(knex.raw(`(${selectSettings}) AS settings`)).pluck('setting')
        : [];
      if (settings.length > 0) warn?.(`${NOT_DURABLE}: ${settings.join(', ')}`);
    }
    const pending = await readPending(knex, engine);
    if (pending.length > 0)
      throw new StorageUnavailable(`its schema lacks ${pending.join(', ')}; run plant-store migrate`);
    await assertTables(knex, engine);
    const repository = new KnexPlantRepository(knex, engine, timeoutMs);
    const storage = readOnly
      ? repository
      : new MonitoredPlantRepository(repository, { probe: () => repository.probe() });
    const { driver, maxWrites } = engine;
    return Object.assign(storage, { schema, name, driver, maxWrites, statistics: { pool: poolOf(knex), files } });
  });
}

/** Returns the migrations that {@link openRepository} would apply, by name. Changes nothing. Throws the same errors. */
export async function readPendingMigrations(database: Database): Promise<readonly string[]> {
  const { engine, fileToCreate } = database;
  if (fileToCreate && !existsSync(fileToCreate)) {
    try {
      accessSync(dirname(fileToCreate), constants.W_OK);
    } catch (error) {
      throw toOpenError(database, error);
    }
    return Object.keys(engine.migrations);
  }
  return connect(database, async (knex) => {
    const pending = await readPending(knex, engine);
    if (pending.length === 0) await assertTables(knex, engine);
    await knex.destroy();
    return pending;
  });
}

/** Connects to a database for `work`, which is retried while the engine is busy. Disconnects if it fails. */
async function connect<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  let knex: Knex | undefined;
  try {
    const opened = await createKnex(database, await database.configure());
    knex = opened;
    return await retryWhileBusy(database.engine, database.timeoutMs, () => work(opened));
  } catch (error) {
    await knex?.destroy();
    throw toOpenError(database, error);
  }
}

function toOpenError({ engine, name, describeError }: Database, error: unknown): StorageUnavailable {
  const cause = new DriverError(error);
  const messages = { ...CONNECT_ERROR_MESSAGES, ...engine.openErrorMessages };
  // The errors of pg have no code.
  const message = describeError?.(cause.code) ?? messages[Object(error).message] ?? messages[cause.code];
  const reason = isPlantStoreError(error) ? error.message : (message ?? `it reported ${cause.code}`);
  return new StorageUnavailable(`cannot open ${name}: ${reason}`, { cause });
}

async function createKnex({ engine: { driver }, timeoutMs }: Database, config: Knex.Config): Promise<Knex> {
  // Loads Knex here, because programs that only parse settings do not need it.
  const { default: knexFactory } = await import('knex');
  // Keeps a statement's values out of the log, and out of error messages, which tracers export.
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  const options = { compileSqlOnError: false, log, acquireConnectionTimeout: timeoutMs };
  try {
    return knexFactory({ client: driver, ...options, ...config });
  } catch {
    throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
  }
}

function poolOf({ client: { pool } }: Knex): StorageStatistics['pool'] {
  return {
    get inUse() {
      return pool.numUsed();
    },
    get pending() {
      return pool.numPendingAcquires();
    },
    max: pool.max,
  };
}
