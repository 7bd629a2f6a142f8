import type { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Maximum time to send a request to cancel, in milliseconds. */
const CANCEL_TIMEOUT_MS = 1000;

/** The part of the driver's client that is used here. */
export interface PostgresClient {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  query(sql: string): Promise<unknown>;
  readonly connection: EventEmitter & { readonly stream: Socket };
}

/**
 * Ends a connection without traffic for a second longer than `timeoutMs`: its packets are lost, which TCP notices after
 * about 15 minutes, or its commit waits for a standby, without a limit in the server. Ends it also if that is cancelled.
 */
export function endStalledConnection(client: PostgresClient, timeoutMs: number): void {
  const { connection } = client;
  const { stream } = connection;
  const unresponsive = Object.assign(new Error('the server does not respond'), { code: 'ETIMEDOUT' });
  // 57014 is the code of a statement that was cancelled.
  const cancelled = Object.assign(new Error('the wait for the standby was cancelled'), { code: '57014' });
  // A pooler knows the connection only until it ends. If the cancelled wait succeeds meanwhile, there is a notice.
  stream.setTimeout(timeoutMs + 1000, () => requestCancel(client).once('close', () => stream.destroy(unresponsive)));
  connection.on('notice', ({ routine }) => {
    // A cancelled wait for the standby: a success with a warning, known by the function of the server that raised it.
    if (routine === 'SyncRepWaitForLSN') connection.emit('error', cancelled);
  });
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
