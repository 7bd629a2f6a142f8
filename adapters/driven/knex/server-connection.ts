import type { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { Knex } from 'knex';

/** Maximum time to send a request to cancel, in milliseconds. */
const CANCEL_TIMEOUT_MS = 1000;

/** Returns Knex's settings for a PostgreSQL server. */
export function toPostgresConfig(url: string, timeoutMs: number, maxConnections?: number): Knex.Config {
  const connection = {
    connectionString: url,
    application_name: 'plant-store',
    keepAlive: true,
    statement_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  };
  const prepare = async (client: PostgresClient) => {
    const { connection } = client;
    const { stream } = connection;
    const unresponsive: NodeJS.ErrnoException = new Error('the server does not respond');
    unresponsive.code = 'ETIMEDOUT';
    // A pooler knows the connection only until it ends. If the cancelled wait succeeds meanwhile, there is a notice.
    onStall(stream, timeoutMs, () => requestCancel(client).once('close', () => stream.destroy(unresponsive)));
    connection.on('notice', ({ routine }) => {
      // A cancelled wait for the standby: a success with a warning, known by the function of the server that raised it.
      if (routine === 'SyncRepWaitForLSN')
        connection.emit('error', new Error('the wait for the standby was cancelled'));
    });
    connection.on('errorMessage', ({ code }) => {
      // A session stays read-only after its default, `default_transaction_read_only`, changes.
      if (code === '25006') stream.end();
    });
  };
  return { connection, pool: toPool(prepare, timeoutMs, maxConnections) };
}

/** Returns Knex's settings for a MySQL or MariaDB server. */
export function toMysqlConfig(url: string, timeoutMs: number, maxConnections?: number): Knex.Config {
  const seconds = Math.ceil(timeoutMs / 1000);
  const prepare = async (connection: MysqlConnection) => {
    // Without an error, which mysql2 would throw if the pool has closed the connection.
    onStall(connection.stream, timeoutMs, () => connection.stream.destroy());
    const session = connection.promise();
    // The server's defaults, or its init_connect, may leave a transaction open, let it see what is not committed, or set
    // another character set.
    await session.query('ROLLBACK');
    await session.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    // Strict mode rejects strings instead of truncating them. Only MariaDB has max_statement_time. On MySQL, statements
    // that wait for a lock on the table (by default, for a year) would pile up.
    await session.query(
      `SET NAMES utf8mb4, SESSION autocommit = 1, completion_type = 'NO_CHAIN', default_storage_engine = InnoDB,
       sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO',
       innodb_lock_wait_timeout = ${seconds}, lock_wait_timeout = ${seconds} /*M! , max_statement_time = ${seconds} */`,
    );
    // On a Galera cluster, reads wait for the commits of all nodes. MySQL does not know this variable (1193).
    await session.query('SET SESSION wsrep_sync_wait = 1').catch((error) => {
      if (error.errno !== 1193) throw error;
    });
  };
  const connection = { uri: url, charset: 'utf8mb4', connectTimeout: timeoutMs };
  return { connection, pool: toPool(prepare, timeoutMs, maxConnections) };
}

function toPool<Connection>(prepare: (connection: Connection) => Promise<void>, timeoutMs: number, max = 10) {
  return { min: 0, max, idleTimeoutMillis: timeoutMs, afterCreate: callbackify(prepare) };
}

/**
 * Ends a connection that has had no traffic for a second longer than a statement may take: its packets are lost, which
 * TCP notices after about 15 minutes, or its commit waits for a standby, without a time limit in the server. The pool
 * usually closes an idle connection before.
 */
function onStall(socket: Socket, timeoutMs: number, end: () => void): void {
  socket.setTimeout(timeoutMs + 1000, end);
}

/** Asks the server, or a pooler, to cancel a statement (PostgreSQL, 54.2.8: Canceling Requests in Progress). */
function requestCancel({ host, port, processID, secretKey }: PostgresClient): Socket {
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) request.writeInt32BE(value, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  // The other side closes the connection; pgbouncer drops a request whose sender closes first.
  socket.write(request);
  return socket.on('error', () => {}).resume();
}

/** The part of the driver's client that is used here. */
interface PostgresClient {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: EventEmitter & { readonly stream: Socket };
}

/** The part of the driver's connection that is used here. */
interface MysqlConnection {
  readonly stream: Socket;
  promise(): { query(sql: string): Promise<unknown> };
}
