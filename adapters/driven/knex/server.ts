import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Knex } from 'knex';
import type { Engine } from './engine.js';
import type { Database, DatabaseOptions } from './open.js';

/** Options of `postgresDatabase` and `mysqlDatabase`. */
export interface DatabaseServerOptions extends DatabaseOptions {
  /** Goes to the driver, parameters included. */
  readonly url: string;
}

/** Describes a database on a server. `prepare` runs on each new connection. */
export function serverDatabase<Connection>(
  { url, ...options }: DatabaseServerOptions,
  engine: Engine,
  connection: Knex.StaticConnectionConfig,
  prepare: (connection: Connection) => Promise<void>,
): Database {
  const { protocol, host, pathname } = new URL(url);
  const pool = { min: 0, afterCreate: callbackify(prepare) };
  return { ...options, engine, name: `${protocol}//${host}${pathname}`, configure: () => ({ connection, pool }) };
}

/**
 * Destroys a connection that has had no traffic for a second longer than a statement may take. Otherwise lost packets
 * would block it until TCP gives up, after about 15 minutes. The pool replaces connections when needed.
 */
export function destroyWhenIdle(socket: Socket, timeoutMs: number): void {
  socket.setTimeout(timeoutMs + 1000, () => {
    socket.destroy(Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' }));
  });
}
