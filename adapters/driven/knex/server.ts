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

/** Describes a database on a server. `prepare` runs on each new connection; `cancel` ends its statement. */
export function serverDatabase<Connection>(
  { url, ...options }: DatabaseServerOptions,
  engine: Engine,
  connection: Knex.StaticConnectionConfig,
  prepare: (connection: Connection, cancel: () => Promise<unknown>) => Promise<void>,
): Database {
  const { protocol, host, pathname } = new URL(url);
  const name = `${protocol}//${host}${pathname}`;
  const configure: Database['configure'] = (cancel) => {
    const afterCreate = callbackify((each: Connection) => prepare(each, () => cancel(each)));
    // The pool usually closes an idle connection before it counts as stalled.
    return { connection, pool: { min: 0, idleTimeoutMillis: options.timeoutMs, afterCreate } };
  };
  return { ...options, engine, name, configure };
}

/**
 * Destroys a connection that has had no traffic for a second longer than a statement may take: its packets are lost,
 * which TCP notices after about 15 minutes, or its commit waits for a standby, which has no time limit in the server.
 */
export function destroyWhenStalled(socket: Socket, timeoutMs: number, cancel: () => Promise<unknown>): void {
  socket.setTimeout(timeoutMs + 1000, () => {
    // First, because the server reports a cancelled wait as a success.
    socket.destroy(Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' }));
    // Otherwise connections would pile up in the server. It may be unreachable.
    cancel().catch(() => {});
  });
}
