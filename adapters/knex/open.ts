import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import knexFactory, { type Knex } from 'knex';
import { StorageUnavailable } from '../../core/index.js';
import { DriverError, retryWhileBusy } from './driver-error.js';
import type { Engine } from './engine.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { migrate, readPending } from './migrations.js';
import { createFile } from './sqlite-files.js';

const NOT_DURABLE = 'the database acknowledges plants before they are durable; a power cut or a failover may lose them';

const CONNECT_ERROR_MESSAGES: Engine['openErrorMessages'] = {
  ECONNREFUSED: 'connection refused; check the address and that the server is running',
  ENOTFOUND: 'unknown host name',
  ETIMEDOUT: 'the server did not respond in time',
  KnexTimeoutError: 'the server did not respond in time',
};

/** A database to open. Create one with `sqliteDatabase`, `postgresDatabase` or `mysqlDatabase`. */
export interface Database {
  readonly engine: Engine;
  /** Name for messages, without a password. */
  readonly name: string;
  readonly config: Knex.Config;
  /** Maximum time for a statement, and for a wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  /** Open for reading only: creates no file, does not migrate; `add` may fail. */
  readonly readOnly?: boolean | undefined;
  /** Called with a warning, which names the settings, if the engine acknowledges writes before they are durable. */
  readonly warn?: ((warning: string) => void) | undefined;
  /** The path, if the database is a file. */
  readonly file?: string;
}

/**
 * Opens a database and migrates its schema. A read-only database must be migrated already.
 * @throws {StorageUnavailable} The database cannot be opened. The message has the reason.
 */
export function openRepository(database: Database): Promise<KnexPlantRepository> {
  const { engine, readOnly, timeoutMs } = database;
  return connect(database, async (knex) => {
    if (!readOnly) {
      await migrate(knex, engine);
      await warnIfNotDurable(knex, database);
    }
    const pending = await readPending(knex, engine);
    if (pending.length > 0)
      throw new StorageUnavailable(`its schema lacks ${pending.join(', ')}; run plant-store migrate`);
    return new KnexPlantRepository(knex, engine, timeoutMs);
  });
}

/** Returns the migrations that {@link openRepository} would apply, by name. Changes nothing. Throws the same errors. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  const { engine, file } = database;
  if (file && !existsSync(file)) return Object.keys(engine.migrations);
  return connect({ ...database, readOnly: true }, async (knex) => {
    const pending = await readPending(knex, engine);
    await knex.destroy();
    return pending;
  });
}

/**
 * Connects to a database for `work`, which is retried while the engine is busy. If it fails, disconnects, and throws a
 * {@link StorageUnavailable} with the reason.
 */
async function connect<T>(database: Database, work: (knex: Knex) => Promise<T>): Promise<T> {
  const { engine, name, timeoutMs, readOnly, file } = database;
  let knex: Knex | undefined;
  try {
    if (file && !readOnly) createFile(file);
    const opened = createKnex(database);
    knex = opened;
    return await retryWhileBusy(engine, timeoutMs, () => work(opened));
  } catch (error) {
    await knex?.destroy();
    const cause = new DriverError(error);
    const message = engine.openErrorMessages[cause.code] ?? CONNECT_ERROR_MESSAGES[cause.code];
    const reason = error instanceof StorageUnavailable ? error.message : (message ?? `it reported ${cause.code}`);
    throw new StorageUnavailable(`cannot open ${name}: ${reason}`, { cause });
  }
}

function createKnex({ engine: { driver }, config, timeoutMs }: Database): Knex {
  try {
    createRequire(import.meta.url).resolve(driver);
  } catch {
    throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
  }
  // Keeps a statement's values out of the log, and out of error messages, which tracers export.
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  const options = { compileSqlOnError: false, log, acquireConnectionTimeout: timeoutMs };
  try {
    return knexFactory({ client: driver, ...options, ...config });
  } catch {
    // The install script of the driver has not run.
    throw new StorageUnavailable(`the driver ${driver} cannot be loaded: npm rebuild ${driver}`);
  }
}

async function warnIfNotDurable(knex: Knex, { engine, warn }: Database): Promise<void> {
  if (!engine.nonDurableSettings) return;
  const settings = await knex.from(knex.raw(`(${engine.nonDurableSettings}) AS settings`)).pluck('setting');
  if (settings.length > 0) warn?.(`${NOT_DURABLE}: ${settings.join(', ')}`);
}
