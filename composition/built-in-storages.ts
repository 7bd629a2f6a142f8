import {
  type Database,
  type DatabaseServerOptions,
  type Engine,
  mysql,
  mysqlDatabase,
  openRepository,
  postgres,
  postgresDatabase,
  sqliteDatabase,
} from '../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../adapters/driven/memory/index.js';
import { InvalidConfig } from './invalid-config.js';
import type { OpenStorage, StorageUrl } from './storage.js';

/** A storage of this package. Its URLs are checked with the other settings, before plugins bind theirs. */
interface BuiltInStorage {
  /** The form of its URLs, for messages. */
  readonly syntax: string;
  /** Returns whether a URL is allowed. Throws InvalidConfig for a parameter that is not. */
  readonly accepts: (url: string) => boolean;
  /** Hides everything that may be a password, because in a malformed URL its position is unknown. */
  readonly redact: (url: string) => string;
  readonly open: OpenStorage;
}

const memory: BuiltInStorage = {
  syntax: 'memory:',
  accepts: (url) => url === 'memory:',
  redact: (url) => (url === 'memory:' ? url : hide(url)),
  open: () => Object.assign(new MemoryPlantRepository(), { name: 'memory:' }),
};

// In sqlite://name, the name could be a host, a relative path or an absolute path. Others write :memory: or file:name.
const SQLITE_URL = /^sqlite:(?!\/\/[^/]|file:|.*:memory:(?:\?|$))([^\p{Cc}?]+)(\?mode=rw)?$/u;

const sqlite = sqlStorage({
  syntax: 'sqlite:PATH, sqlite:PATH?mode=rw',
  accepts: (url) => SQLITE_URL.test(url),
  redact: (url) => url.replace(/(\?(?!mode=\w*$)|[\r\n]).*/s, '$1***'),
  toDatabase: ({ url, ...options }) => {
    const [, path = '', mode] = SQLITE_URL.exec(url) ?? [];
    return sqliteDatabase({ path, mustExist: mode !== undefined, ...options });
  },
});

const postgresServer = serverStorage('postgres://…', postgres, postgresDatabase);

/** The storages of this package, by the scheme of their URLs. The container binds each of them as a plugin would. */
export const builtInStorages: Readonly<Record<string, BuiltInStorage>> = {
  sqlite,
  postgres: postgresServer,
  postgresql: postgresServer,
  mysql: serverStorage('mysql://…', mysql, mysqlDatabase),
  memory,
};

/** The allowed URLs, phrased to follow "must be". */
export const STORAGE_URLS: string = `${[...new Set(Object.values(builtInStorages))].map(({ syntax }) => syntax).join(', ')} or a URL for a plugin`;

/** Parses a `DATABASE_URL`. Returns `undefined` if it is not allowed. Throws InvalidConfig if a parameter is not. */
export function parseStorageUrl(url: string): StorageUrl | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\P{Cc}*$/u.exec(url)?.[1];
  return scheme === undefined || findStorage(scheme)?.accepts(url) === false ? undefined : { scheme, url };
}

/** Returns the part of a `DATABASE_URL` that is safe to print, even if the URL is malformed. */
export function redactStorageUrl(url: string): string {
  if (/^\w*$/.test(url)) return url;
  return (findStorage(url.replace(/:.*/s, '').toLowerCase())?.redact ?? hide)(url);
}

function findStorage(scheme: string): BuiltInStorage | undefined {
  return Object.hasOwn(builtInStorages, scheme) ? builtInStorages[scheme] : undefined;
}

/** Leaves only the scheme of a URL. */
function hide(url: string): string {
  return `${/^[a-z]+:(?=\/\/)/i.exec(url)?.[0] ?? ''}***`;
}

function serverStorage(
  syntax: string,
  engine: Engine,
  toDatabase: (options: DatabaseServerOptions) => Database,
): BuiltInStorage {
  return sqlStorage({
    syntax,
    accepts(url) {
      // Requires an authority: in postgres:user:password@host, the password would be part of the path.
      if (!/^\w+:\/\/\P{Cc}*$/u.test(url)) return false;
      const parsed = URL.canParse(url) ? new URL(url) : undefined;
      // In postgres://user:12/3@host, the password would be part of the path, and printed.
      if (url.includes('@') && (parsed === undefined || /[@#]/.test(parsed.pathname + parsed.hash)))
        throw new InvalidConfig('percent-encode special characters of its user and password, or correct its port');
      if (parsed === undefined || parsed.hash !== '') return false;
      if (!/^\/./.test(parsed.pathname)) throw new InvalidConfig('name the database after the host, as in /plants');
      const unknown = [...parsed.searchParams.keys()].find((name) => !engine.urlParameters.includes(name));
      if (unknown !== undefined) throw new InvalidConfig(`the driver does not know the parameter ${unknown}`);
      return true;
    },
    redact: (url) => (/^\w+:\/\/[\w.-]+\/[\w.-]*$/.test(url) ? url : hide(url)),
    toDatabase,
  });
}

function sqlStorage({
  toDatabase,
  ...storage
}: Omit<BuiltInStorage, 'open'> & {
  readonly toDatabase: (options: DatabaseServerOptions) => Database;
}): BuiltInStorage {
  const open: OpenStorage = ({ log: _, ...options }) => {
    // A program may have made the configuration by hand.
    if (!storage.accepts(options.url)) throw new InvalidConfig(`the URL of the storage must be ${storage.syntax}`);
    return openRepository(toDatabase(options));
  };
  return { ...storage, open };
}
