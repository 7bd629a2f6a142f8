import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { Database, DatabaseServerOptions, SchemaState } from '../adapters/driven/knex/index.js';
import type { StorageLifecycle, StorageStatistics } from '../adapters/driven/monitoring/index.js';
import type { PlantRepository } from '../core/index.js';
import { services } from './services.js';

/** An open repository, with methods and facts for the program that opened it. */
export interface Storage extends PlantRepository, StorageLifecycle {
  /** Default number of batches written concurrently. Default: 1. */
  readonly maxWrites?: number;
  /** Name for the log, without secrets. */
  readonly name?: string;
  /** Name of the database driver for the log. */
  readonly driver?: string;
  /** Whether opening created or migrated the schema, or found it current. */
  readonly schema?: SchemaState;
  /** Its current state, for metrics. */
  readonly statistics?: StorageStatistics;
}

/** A `DATABASE_URL`, and its scheme, which selects the storage. */
export interface StorageUrl {
  readonly scheme: string;
  readonly url: string;
}

/** Options of {@link OpenStorage}. */
export interface StorageOptions {
  /** The `DATABASE_URL`. */
  readonly url: string;
  /** `STORAGE_TIMEOUT`, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the storage will only be read. If so, create and change nothing. */
  readonly readOnly: boolean;
  readonly log: Logger;
}

/** Opens the storage at a URL. Throws `StorageUnavailable` if a retry may help. */
export interface OpenStorage {
  (options: StorageOptions): Storage | Promise<Storage>;
  /** Describes the database without opening it, for `check` and `migrate`. Absent for storages without migrations. */
  readonly toDatabase?: (options: DatabaseServerOptions) => Database;
}

/** Returns the name of a database, with a remark if it lacks even the first of its migrations. */
export function describeDatabase({ name, engine }: Database, pending: readonly string[]): string {
  const isNew = pending.length === Object.keys(engine.migrations).length;
  return isNew ? `${name} contains no store yet` : name;
}

/** Logs when opening the storage creates it, because a mistyped `DATABASE_URL` would otherwise go unnoticed. */
export function logNewStore(container: Container): void {
  container.onActivation(services.Storage, async (context, storage) => {
    const log = await context.getAsync(services.Logger);
    // A plugin may have bound anything.
    if (storage?.schema === 'created') log.info({ storage: storage.name }, 'created a new, empty store');
    return storage;
  });
}
