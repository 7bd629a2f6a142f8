import { setTimeout } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import { InvalidServerUrl, MissingDriver, openMysql, openPostgres, openSqlite } from '../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../adapters/driven/memory/index.js';
import { isStorageUnavailable, type PlantStorage, StorageUnavailable } from '../core/index.js';
import { type Config, InvalidConfig } from './config.js';
import { services } from './services.js';

/** Maximum time to wait for a database that does not respond yet. Less than systemd's `TimeoutStartSec`, 90 s. */
const MAX_WAIT_MS = 60_000;
/** Pause between attempts, in milliseconds. */
const PAUSE_MS = 1000;
/** Codes of a server that does not respond. `57P03`: PostgreSQL is starting. */
const NO_RESPONSE = [
  '57P03',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
];
/** SQLite gives `sqlite://name` and `:memory:` another meaning. */
const SQLITE_URL = /^sqlite:(?!\/\/[^/]|file:|:memory:)([^?]+)(\?mode=rw)?$/;

/** An open storage, and what it may say of itself to the log, to `check` and to group commit. */
export interface Storage extends PlantStorage {
  /** Its name without a password. @default the scheme of `DATABASE_URL` */
  readonly name?: string | undefined;
  readonly driver?: string | undefined;
  /** What opening found or did: `created`, `migrated` or `current`; if the storage is only read, also `missing` or `pending`. */
  readonly schema?: string | undefined;
  /** The migrations that `serve` would apply, if the storage is only read. */
  readonly pending?: readonly string[] | undefined;
  /** What an operator has to know, for the log. */
  readonly warning?: string | undefined;
  /** Maximum number of concurrent calls of `add` by group commit. @default 1 */
  readonly maxWrites?: number | undefined;
}

/** Opens the storage at a URL. */
export type OpenStorage = (options: {
  /** The value of `DATABASE_URL`. */
  readonly url: string;
  /** `STORAGE_TIMEOUT`, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the command only reads, so that opening must create and change nothing. */
  readonly readOnly: boolean;
}) => Storage | Promise<Storage>;

/** The storages of this package, by the scheme of their URLs. */
export const storages: Readonly<Record<string, OpenStorage>> = {
  sqlite: ({ url, ...options }) => {
    const [, path, mode] = SQLITE_URL.exec(url) ?? [];
    if (path === undefined) throw new InvalidServerUrl('must be sqlite:PATH or sqlite:PATH?mode=rw');
    return openSqlite({ path, mustExist: mode !== undefined, ...options });
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  mysql: openMysql,
  memory: () => new MemoryPlantRepository(),
};

/** Opens the storage that the scheme of `DATABASE_URL` selects. Waits for a server that does not respond yet. */
export async function openStorage(context: ResolutionContext): Promise<Storage> {
  const { database: url, databaseFromFile, storageTimeoutMs: timeoutMs } = context.get(services.Config);
  const variable = databaseFromFile === undefined ? 'DATABASE_URL' : 'DATABASE_URL_FILE';
  const readOnly = context.get(services.ReadOnly);
  const [scheme = ''] = /^[a-z][a-z\d+.-]*(?=:)/.exec(url) ?? [];
  const open = await context.getAsync(services.OpenStorage, { name: scheme, optional: true });
  if (open === undefined)
    throw new InvalidConfig(
      `${variable}: must be sqlite:PATH, postgres://…, mysql://…, memory: or have a scheme that one of PLUGINS adds`,
    );
  const deadline = performance.now() + MAX_WAIT_MS;
  let isWaiting = false;
  for (;;) {
    try {
      return await open({ url, timeoutMs, readOnly });
    } catch (error) {
      if (error instanceof InvalidServerUrl || error instanceof MissingDriver)
        throw new InvalidConfig(`${variable}: ${error.message}`);
      if (readOnly || !isUnresponsive(error) || performance.now() > deadline) {
        if (!isStorageUnavailable(error)) throw error;
        throw new StorageUnavailable(`${variable}: ${error.message}`, { cause: error.cause });
      }
      if (!isWaiting) (await context.getAsync(services.Logger)).warn({ err: error }, 'waiting for the database');
      isWaiting = true;
      await setTimeout(PAUSE_MS);
    }
  }
}

function isUnresponsive(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Object && 'code' in cause && NO_RESPONSE.includes(`${cause.code}`);
}

/** Returns the name of a storage, without a password. */
export function toStorageName({ name }: Storage, { database }: Config): string {
  return name ?? database.replace(/:.*/s, ':');
}
