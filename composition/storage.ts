import type { Container } from 'inversify';
import type { Logger } from 'pino';
import {
  type Database,
  mysqlDatabase,
  openRepository,
  postgresDatabase,
  type SchemaState,
  sqliteDatabase,
} from '../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../adapters/driven/memory/index.js';
import type { StorageLifecycle, StorageStatistics } from '../adapters/driven/monitoring/index.js';
import type { PlantRepository } from '../core/index.js';
import { services } from './services.js';
import { type BUILT_IN_SCHEMES, parseDatabaseUrl } from './urls.js';

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
export type OpenStorage = (options: StorageOptions) => Storage | Promise<Storage>;

/** The storages of this package, by the scheme of their URLs. */
export const builtInStorages: Readonly<Record<(typeof BUILT_IN_SCHEMES)[number], OpenStorage>> = {
  memory: () => new MemoryPlantRepository(),
  sqlite: openDatabase,
  postgres: openDatabase,
  postgresql: openDatabase,
  mysql: openDatabase,
};

/** Returns the SQL database at a URL, or `undefined` if the URL selects another storage. Opens nothing. */
export function toDatabase({
  url,
  ...options
}: Pick<StorageOptions, 'url'> & Pick<Database, 'timeoutMs' | 'readOnly' | 'warn'>): Database | undefined {
  const parsed = parseDatabaseUrl(url);
  if (parsed === undefined || parsed.kind === 'memory') return undefined;
  if (parsed.kind === 'sqlite') return sqliteDatabase({ ...parsed, ...options });
  return { mysql: mysqlDatabase, postgres: postgresDatabase }[parsed.kind]({ url, ...options });
}

/** Returns the name of a database, with a remark if it lacks even the first of its migrations. */
export function describeDatabase({ name, engine }: Database, pending: readonly string[]): string {
  const isNew = pending.length === Object.keys(engine.migrations).length;
  return isNew ? `${name} contains no store yet` : name;
}

async function openDatabase({ url, log, ...options }: StorageOptions): Promise<Storage> {
  const database = toDatabase({ url, ...options, warn: (text) => log.warn(text) });
  if (database === undefined) throw new TypeError('the URL is not that of a SQL database');
  const repository = await openRepository(database);
  const { name, engine } = database;
  return Object.assign(repository, { maxWrites: engine.maxWrites, name, driver: engine.driver });
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
