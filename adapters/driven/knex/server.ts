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
  // The pool usually closes an idle connection before it counts as stalled.
  const pool = { min: 0, idleTimeoutMillis: options.timeoutMs, afterCreate: callbackify(prepare) };
  return { ...options, engine, name: `${protocol}//${host}${pathname}`, configure: () => ({ connection, pool }) };
}

/**
 * Calls `end` for a connection that has had no traffic for a second longer than a statement may take: its packets are
 * lost, which TCP notices after about 15 minutes, or its commit waits for a standby, without a time limit in the server.
 * `end` calls `destroy`, and makes the server cancel the statement; otherwise connections would pile up there.
 */
export function onStall(socket: Socket, timeoutMs: number, end: (destroy: () => void) => void): void {
  const error = Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' });
  socket.setTimeout(timeoutMs + 1000, () => end(() => socket.destroy(error)));
}
