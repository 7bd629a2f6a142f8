import { createRequire } from 'node:module';
import knexFactory, { type Knex } from 'knex';
import { StorageUnavailable } from '../../core/index.js';
import { whileBusy } from './busy.js';
import type { Engine } from './engine.js';
import { StorageFailure } from './failure.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { migrate, migrationNames, pendingOf } from './migrations.js';

/** Knex would print errors, with the values of the statement in them. */
const silent = { warn() {}, error() {}, deprecate() {}, debug() {} };

/** A database, and how long it is waited for. `sqliteDatabase`, `postgresDatabase` and `mysqlDatabase` make one. */
export interface Database {
  readonly engine: Engine;
  /** What to call it in a sentence, without a password. */
  readonly name: string;
  readonly config: Knex.Config;
  /** How long a statement, and a wait for a connection, may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Told of the settings with which the engine acknowledges a write before it is synced. */
  readonly warn?: ((warning: string) => void) | undefined;
  /** Where it is a file: whether there is none yet, and making it. */
  readonly file?: { isMissing(): boolean; create(): void };
}

/** Where a database server is, and how long to wait for it. */
export interface ServerOptions extends Pick<Database, 'timeoutMs' | 'warn'> {
  readonly url: string;
}

/**
 * A number in a URL's parameters.
 *
 * @throws {StorageUnavailable} where it is none, or not above 0
 */
export function parameterOf(url: URL, name: string, byDefault: number): number {
  const text = url.searchParams.get(name);
  const value = text === null ? byDefault : Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new StorageUnavailable(
    `cannot open ${withoutSecrets(url.href)}: its parameter ${name} must be a number above 0`,
  );
}

/** What of a URL may be shown. */
export function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/**
 * Opens a database and brings its schema up to date.
 *
 * @throws {StorageUnavailable} with a sentence that says why it cannot be opened
 */
export function openRepository(database: Database): Promise<KnexPlantRepository> {
  const { engine, file, timeoutMs, warn } = database;
  return explained(database, async () => {
    file?.create();
    const knex = connect(database);
    try {
      await whileBusy(engine, timeoutMs, () => migrate(knex, engine));
      const unsynced = await engine.unsyncedSettings(knex);
      if (unsynced.length > 0) {
        warn?.(
          `the database acknowledges plants before they are synced, so a power cut may lose them: ${unsynced.join(', ')}`,
        );
      }
      return new KnexPlantRepository(knex, engine, timeoutMs);
    } catch (error) {
      await knex.destroy();
      throw error;
    }
  });
}

/**
 * Says what {@link openRepository} would do to the schema, and does nothing.
 *
 * @returns the names of the migrations that are still to come
 * @throws {StorageUnavailable} with a sentence that says why the database cannot be opened
 */
export function pendingMigrations(database: Database): Promise<readonly string[]> {
  const { engine, file, timeoutMs } = database;
  return explained(database, async () => {
    if (file?.isMissing()) return migrationNames(engine);
    const knex = connect(database);
    try {
      return await whileBusy(engine, timeoutMs, () => pendingOf(knex, engine));
    } finally {
      await knex.destroy();
    }
  });
}

function connect({ engine: { driver }, config, timeoutMs }: Database): Knex {
  try {
    createRequire(import.meta.url).resolve(driver);
  } catch {
    throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
  }
  // Knex would write the values into the messages of errors, which tracers send on.
  const options = { compileSqlOnError: false, log: silent, acquireConnectionTimeout: timeoutMs };
  try {
    return knexFactory({ client: driver, ...options, ...config });
  } catch {
    // Its install script has not run.
    throw new StorageUnavailable(`the driver ${driver} cannot be loaded: npm rebuild ${driver}`);
  }
}

/** Runs `work`; what a driver or the operating system throws becomes a sentence. */
async function explained<T>({ engine, name }: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const cause = new StorageFailure(error);
    const reason =
      error instanceof StorageUnavailable ? error.message : (engine.reasons[cause.code] ?? `it reported ${cause.code}`);
    throw new StorageUnavailable(`cannot open ${name}: ${reason}`, { cause });
  }
}
