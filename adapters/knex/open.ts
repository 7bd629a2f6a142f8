import { createRequire } from 'node:module';
import knexFactory, { type Knex } from 'knex';
import { StorageUnavailable } from '../../core/index.js';
import { whileBusy } from './busy.js';
import type { Engine } from './engine.js';
import { StorageFailure } from './failure.js';
import { KnexPlantRepository } from './knex-plant-repository.js';
import { migrate } from './migrations.js';

/** Knex would print errors, with the values of the statement in them. */
const silent = { warn() {}, error() {}, deprecate() {}, debug() {} };

/** How a database is reached, and how long it is waited for. */
export interface OpenOptions {
  readonly engine: Engine;
  /** What to call the database in a sentence, without a password. */
  readonly database: string;
  readonly config: Knex.Config;
  /** How long a statement, and a wait for a connection, may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Told of the settings with which the engine acknowledges a write before it is synced. */
  readonly warn?: ((warning: string) => void) | undefined;
}

/** Where a database server is, and how long to wait for it. */
export interface ServerOptions extends Pick<OpenOptions, 'timeoutMs' | 'warn'> {
  readonly url: string;
}

/** What of a URL may be shown. */
export function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/**
 * A Knex instance for a database.
 *
 * @throws {StorageUnavailable} that names the command to install the engine's driver, where it is missing
 */
export function connect({ engine: { driver }, config, timeoutMs }: OpenOptions): Knex {
  try {
    createRequire(import.meta.url).resolve(driver);
  } catch {
    throw new StorageUnavailable(`the driver ${driver} is not installed: npm install ${driver}`);
  }
  return knexFactory({ client: driver, log: silent, acquireConnectionTimeout: timeoutMs, ...config });
}

/** Opens a database and brings its schema up to date. */
export async function openRepository(options: OpenOptions): Promise<KnexPlantRepository> {
  const { engine, timeoutMs, warn } = options;
  const knex = connect(options);
  try {
    return await explained(options, async () => {
      await whileBusy(engine, timeoutMs, () => migrate(knex, engine));
      const unsynced = await engine.unsyncedSettings(knex);
      if (unsynced.length > 0) {
        warn?.(
          `the database acknowledges plants before they are synced, so a power cut may lose them: ${unsynced.join(', ')}`,
        );
      }
      return new KnexPlantRepository(knex, engine, timeoutMs);
    });
  } catch (error) {
    await knex.destroy();
    throw error;
  }
}

/** Runs `open`; what a driver or the operating system throws becomes a sentence. */
export async function explained<T>(
  { engine, database }: Pick<OpenOptions, 'engine' | 'database'>,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const cause = new StorageFailure(error);
    const reason =
      error instanceof StorageUnavailable ? error.message : (engine.reasons[cause.code] ?? `it reported ${cause.code}`);
    throw new StorageUnavailable(`cannot open ${database}: ${reason}`, { cause });
  }
}
