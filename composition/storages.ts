import {
  type Database,
  type DatabaseServerOptions,
  type Engine,
  type KnexStorage,
  mysql,
  mysqlDatabase,
  openRepository,
  postgres,
  postgresDatabase,
  sqliteDatabase,
} from '../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../adapters/driven/memory/index.js';
import type { PlantStorage } from '../core/index.js';
import { InvalidConfig } from './config.js';

/** An open storage, possibly with facts for the log, for `check` and for group commit. */
export type Storage = PlantStorage & Partial<KnexStorage>;

/** Opens the storage at a URL. Creates and changes nothing if `readOnly`. */
export type OpenStorage = (options: {
  /** The value of `DATABASE_URL`. */
  readonly url: string;
  /** `STORAGE_TIMEOUT`, in milliseconds. */
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}) => Storage | Promise<Storage>;

// Elsewhere, sqlite://name and :memory: mean something else.
const SQLITE_URL = /^sqlite:(?!\/\/[^/]|file:|:memory:)([^?]+)(\?mode=rw)?$/;

const sqlite: OpenStorage = ({ url, ...options }) => {
  const [, path, mode] = SQLITE_URL.exec(url) ?? [];
  if (path === undefined) throw new InvalidConfig('DATABASE_URL: must be sqlite:PATH or sqlite:PATH?mode=rw');
  return openRepository(sqliteDatabase({ path, mustExist: mode !== undefined, ...options }));
};

const serverStorage =
  ({ urlParameters = [] }: Engine, toDatabase: (options: DatabaseServerOptions) => Database): OpenStorage =>
  (options) => {
    assertServerUrl(options.url, urlParameters);
    return openRepository(toDatabase(options));
  };

/** The storages of this package, by the scheme of their URLs. */
export const storages: Readonly<Record<string, OpenStorage>> = {
  sqlite,
  postgres: serverStorage(postgres, postgresDatabase),
  postgresql: serverStorage(postgres, postgresDatabase),
  mysql: serverStorage(mysql, mysqlDatabase),
  memory: () => Object.assign(new MemoryPlantRepository(), { name: 'memory:' }),
};

/** Rejects what a driver would ignore: with a mistyped `sslmode`, it would connect without TLS. */
function assertServerUrl(text: string, knownParameters: readonly string[]): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // In postgres://user:12/3@host, the password would be part of the path, and printed.
  if (url === undefined || /@/.test(url.pathname + url.search + url.hash))
    throw new InvalidConfig('DATABASE_URL: percent-encode special characters of user, password and parameters');
  if (!/^\/./.test(url.pathname))
    throw new InvalidConfig('DATABASE_URL: must name a database after the host, as in postgres://localhost/plants');
  const unknown = [...url.searchParams.keys()].find((name) => !knownParameters.includes(name));
  if (unknown !== undefined)
    throw new InvalidConfig(`DATABASE_URL: unknown parameter ${unknown}; known are ${knownParameters.join(', ')}`);
}
