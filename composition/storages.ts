import { setTimeout } from 'node:timers/promises';
import type { KnexStorage } from '@plant-store/adapters/knex';
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

/** An open storage. What else one of SQL has is optional; without a name, the log has the scheme of `DATABASE_URL`. */
export type Storage = OpenPlantRepository & Partial<KnexStorage>;

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
      const { cause } = error;
      const isUnresponsive = cause instanceof Object && 'code' in cause && NO_RESPONSE.test(`${cause.code}`);
      if (readOnly || !isUnresponsive || performance.now() > deadline)
        throw new StorageUnavailable(`${variable}: ${error.message}`, { cause });
      if (isFirst) log.warn({ err: error }, 'waiting for the database');
      await setTimeout(PAUSE_MS);
    }
  }
}

/** Returns the scheme of `DATABASE_URL`, or an empty string. */
export function toScheme({ database }: Config): string {
  return /^[a-z][a-z\d+.-]*(?=:)/.exec(database)?.[0] ?? '';
}
