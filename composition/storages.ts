import type { ResolutionContext } from 'inversify';
import { InvalidServerUrl, openMysql, openPostgres, openSqlite } from '../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../adapters/driven/memory/index.js';
import type { PlantStorage } from '../core/index.js';
import { InvalidConfig } from './config.js';
import { services } from './services.js';

/** An open storage, and what it may say of itself to the log, to `check` and to group commit. */
export interface Storage extends PlantStorage {
  /** Its name without a password. @default the scheme of `DATABASE_URL` */
  readonly name?: string;
  readonly driver?: string;
  /** What opening found or did: for example `created`, `migrated` or `current`. */
  readonly schema?: string;
  /** The migrations that `serve` would apply, if the storage is only read. */
  readonly pending?: readonly string[];
  /** What an operator has to know, for the log. */
  readonly warning?: string | undefined;
  /** Maximum number of concurrent calls of `add` by group commit. @default 1 */
  readonly maxWrites?: number;
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

// Elsewhere, sqlite://name and :memory: mean something else.
const SQLITE_URL = /^sqlite:(?!\/\/[^/]|file:|:memory:)([^?]+)(\?mode=rw)?$/;

const sqlite: OpenStorage = ({ url, ...options }) => {
  const [, path, mode] = SQLITE_URL.exec(url) ?? [];
  if (path === undefined) throw new InvalidConfig('DATABASE_URL: must be sqlite:PATH or sqlite:PATH?mode=rw');
  return openSqlite({ path, mustExist: mode !== undefined, ...options });
};

/** Reports an invalid URL as a setting. */
const onServer =
  (open: OpenStorage): OpenStorage =>
  async (options) => {
    try {
      return await open(options);
    } catch (error) {
      throw error instanceof InvalidServerUrl ? new InvalidConfig(`DATABASE_URL: ${error.message}`) : error;
    }
  };

/** The storages of this package, by the scheme of their URLs. */
export const storages: Readonly<Record<string, OpenStorage>> = {
  sqlite,
  postgres: onServer(openPostgres),
  postgresql: onServer(openPostgres),
  mysql: onServer(openMysql),
  memory: () => Object.assign(new MemoryPlantRepository(), { name: 'memory:' }),
};

/** Opens the storage that the scheme of `DATABASE_URL` selects. */
export async function openStorage(context: ResolutionContext): Promise<Storage> {
  const { database: url, storageTimeoutMs: timeoutMs } = context.get(services.Config);
  const [scheme = ''] = /^[a-z][a-z\d+.-]*(?=:)/.exec(url) ?? [];
  const open = await context.getAsync(services.OpenStorage, { name: scheme, optional: true });
  if (open === undefined)
    throw new InvalidConfig(
      'DATABASE_URL: must be sqlite:PATH, postgres://…, mysql://…, memory: or have a scheme that one of PLUGINS adds',
    );
  return open({ url, timeoutMs, readOnly: context.get(services.ReadOnly) });
}
