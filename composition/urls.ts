import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { InvalidConfig } from './invalid-config.js';
import { describeReadError } from './secret-file.js';
import { findSimilar } from './similar-name.js';

/** The schemes of the built-in storages. */
export const BUILT_IN_SCHEMES = ['memory', 'sqlite', 'postgres', 'postgresql', 'mysql'] as const;

/** A `DATABASE_URL`, and its scheme, which selects the storage. */
export interface StorageUrl {
  readonly scheme: string;
  readonly url: string;
}

/** Parses a `DATABASE_URL`. Returns `undefined` if it is not allowed. */
export function parseStorageUrl(url: string): StorageUrl | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):[^\0]*$/.exec(url)?.[1];
  const isBuiltIn = BUILT_IN_SCHEMES.some((builtIn) => builtIn === scheme);
  return scheme === undefined || (isBuiltIn && !parseDatabaseUrl(url)) ? undefined : { scheme, url };
}

/** A parsed `DATABASE_URL` of a built-in storage. */
export type DatabaseUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string; readonly mustExist: boolean }
  | { readonly kind: 'postgres' | 'mysql'; readonly url: string };

/** Parses a `DATABASE_URL` of a built-in storage. Returns `undefined` if it is not allowed. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  if (text === 'memory:') return { kind: 'memory' };
  // In sqlite://name, the name could be a host, a relative path or an absolute path. Others write :memory: or file:name.
  const [, path, mode] = /^sqlite:(?!\/\/[^/]|file:|.*:memory:(?:\?|$))([^\0?]+)(\?mode=rw)?$/.exec(text) ?? [];
  if (path !== undefined) return { kind: 'sqlite', path, mustExist: mode !== undefined };
  // Requires an authority: in postgres:user:password@host, the password would be part of the path.
  const scheme = /^(postgres|postgresql|mysql):\/\/[^\0]*$/.exec(text)?.[1];
  if (scheme === undefined || !URL.canParse(text)) return undefined;
  const kind = scheme === 'mysql' ? 'mysql' : 'postgres';
  assertParameters(new URL(text).searchParams, PARAMETERS[kind]);
  return { kind, url: text };
}

/** The parameters of a URL. The drivers ignore others, and an unknown `sslmode`: they would connect without TLS. */
const PARAMETERS = {
  postgres: [
    ...[
      'sslmode',
      'sslrootcert',
      'sslcert',
      'sslkey',
      'host',
      'port',
      'user',
      'password',
      'application_name',
      'options',
    ],
    ...['connect_timeout', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'max'],
  ],
  mysql: ['ssl', 'connectTimeout', 'connectionLimit', 'socketPath', 'compress', 'localAddress'],
};
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** @throws {InvalidConfig} A parameter is unknown. Names only a typing error: any other name may be part of a password. */
function assertParameters(parameters: URLSearchParams, known: readonly string[]): void {
  for (const [name, value] of parameters) {
    const similar = findSimilar(name, known);
    const problem = similar
      ? `its parameter ${name} is unknown; did you mean ${similar}?`
      : 'it has an unknown parameter';
    if (!known.includes(name)) throw new InvalidConfig(`${problem}${similar ? '' : `; known are ${known.join(', ')}`}`);
    if (['sslrootcert', 'sslcert', 'sslkey'].includes(name)) assertReadable(name, value);
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      throw new InvalidConfig(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  }
}

/** @throws {InvalidConfig} The file cannot be read. */
function assertReadable(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new InvalidConfig(`the file ${path} of ${name} ${describeReadError(error)}`);
  }
}

/** Parses an https URL without credentials, or an http URL of a loopback address. */
export function parseJwksUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  return url.protocol === 'https:' || isLocal ? url : undefined;
}

/** Hides everything that may be a password, because in a malformed URL its position is unknown. */
export function redactDatabaseUrl(text: string): string {
  const isHarmless =
    /^sqlite:[^?]*(\?mode=\w*)?$|^memory:$|^\w*$|^(postgres|postgresql|mysql):\/\/[\w.-]+\/[\w.-]*$/i.test(text);
  return isHarmless ? text : `${/^(sqlite:[^?]*\?|[a-z]+:(?=\/\/))/i.exec(text)?.[0] ?? ''}***`;
}

/** Returns whether only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
