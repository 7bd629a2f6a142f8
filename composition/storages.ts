import { setTimeout } from 'node:timers/promises';
import { InvalidServerUrl, MissingDriver, openMysql, openPostgres, openSqlite } from '@plant-store/adapters/knex';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { isStorageUnavailable, type OpenPlantRepository, StorageUnavailable } from '@plant-store/core';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { InvalidConfig } from './files.js';

/** Maximum time to wait for a database that does not respond yet. Less than systemd's `TimeoutStartSec`, 90 s. */
const MAX_WAIT_MS = 60_000;
/** Pause between attempts, in milliseconds. */
const PAUSE_MS = 1000;
/** Codes of a server that does not respond. `57P03`: PostgreSQL is starting. */
const NO_RESPONSE =
  /^(57P03|PROTOCOL_CONNECTION_LOST|E(AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|TIMEDOUT))$/;
/** SQLite gives `sqlite://name` and `:memory:` another meaning. */
const SQLITE_URL = /^sqlite:(?!\/\/[^/]|file:|:memory:)([^?]+)(\?mode=rw)?$/;

/** An open storage, with optional facts for the log, `check` and group commit. */
export interface Storage extends OpenPlantRepository {
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

/** Opens the storage of `DATABASE_URL` with the function for its scheme. Waits for a server that does not respond yet. */
export async function openStorage(
  open: OpenStorage | undefined,
  { database: url, databaseFromFile, storageTimeoutMs: timeoutMs }: Config,
  readOnly: boolean,
  log: Pick<Logger, 'warn'>,
): Promise<Storage> {
  const variable = databaseFromFile === undefined ? 'DATABASE_URL' : 'DATABASE_URL_FILE';
  if (open === undefined)
    throw new InvalidConfig(
      `${variable}: must be sqlite:PATH, postgres://…, mysql://…, memory: or have a scheme that one of PLUGINS adds`,
    );
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open({ url, timeoutMs, readOnly });
    } catch (error) {
      if (error instanceof InvalidServerUrl || error instanceof MissingDriver)
        throw new InvalidConfig(`${variable}: ${error.message}`);
      if (!isStorageUnavailable(error)) throw error;
      if (readOnly || !isUnresponsive(error) || performance.now() > deadline)
        throw new StorageUnavailable(`${variable}: ${error.message}`, { cause: error.cause });
      if (isFirst) log.warn({ err: error }, 'waiting for the database');
      await setTimeout(PAUSE_MS);
    }
  }
}

function isUnresponsive({ cause }: StorageUnavailable): boolean {
  return cause instanceof Object && 'code' in cause && NO_RESPONSE.test(`${cause.code}`);
}

/** Returns the scheme of `DATABASE_URL`, or an empty string. */
export function toScheme({ database }: Config): string {
  return /^[a-z][a-z\d+.-]*(?=:)/.exec(database)?.[0] ?? '';
}

/** Returns the name of a storage, without a password. */
export function toStorageName({ name }: Storage, config: Config): string {
  return name ?? `${toScheme(config)}:`;
}
