import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Knex } from 'knex';
import { StorageUnavailable } from '../../../core/index.js';
import type { Engine } from './engine.js';
import type { Database } from './open.js';

/**
 * Milliseconds after `timeoutMs` for the server to report its own timeout first. MariaDB has less of it, because its
 * timeout is rounded up to seconds; with a longer one in the URL, PostgreSQL has none.
 */
const GRACE_MS = 1000;

/** Options of `postgresDatabase` and `mysqlDatabase`. */
export interface DatabaseServerOptions extends Pick<Database, 'timeoutMs' | 'readOnly' | 'warn'> {
  readonly url: string;
}

/** Describes a database on a server for `openRepository`. `configure` prepares each new connection. */
export function serverDatabase<Connection>(
  { url, ...options }: DatabaseServerOptions,
  engine: Engine,
  connection: Knex.StaticConnectionConfig,
  pool: { readonly max: number; configure(connection: Connection): Promise<void> },
): Database {
  const afterCreate = callbackify(pool.configure);
  return {
    ...options,
    engine,
    name: withoutSecrets(url),
    configure: () => ({
      connection,
      pool: { min: 0, max: pool.max, createTimeoutMillis: options.timeoutMs, afterCreate },
    }),
  };
}

/** Reads a parameter of a URL, and throws StorageUnavailable if it is not a number above 0. */
export function parseNumberParameter(url: URL, name: string, defaultValue: number): number {
  const text = url.searchParams.get(name);
  const value = text === null ? defaultValue : Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new StorageUnavailable(`cannot open ${withoutSecrets(url.href)}: ${name} must be a number above 0`);
}

/** Removes credentials and parameters from a URL. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/**
 * Destroys a connection that has had no traffic for longer than a statement may take. Otherwise lost packets would
 * block it until TCP gives up, after about 15 minutes. The pool replaces connections when needed.
 */
export function destroyWhenIdle(socket: Socket, timeoutMs: number): void {
  socket.setTimeout(timeoutMs + GRACE_MS, () => {
    socket.destroy(Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' }));
  });
}
