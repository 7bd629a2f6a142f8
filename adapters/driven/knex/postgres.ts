import type { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Engine, exclude, insertJsonRows, toCode, toRow } from './engine.js';
import type { Database } from './open.js';
import { type DatabaseServerOptions, onStall, serverDatabase } from './server.js';

const INSERT = `${insertJsonRows('BIGINT', 'json_array_elements(?)')}
  ON CONFLICT (id) DO NOTHING
  RETURNING CAST(id AS TEXT) AS id`;

/** Maximum time to send a request to cancel, in milliseconds. */
const CANCEL_TIMEOUT_MS = 1000;

/** PostgreSQL. */
export const postgres: Engine = {
  driver: 'pg',
  maxWrites: 2,
  urlParameters: `sslmode sslrootcert sslcert sslkey host port user password application_name options
    statement_timeout lock_timeout idle_in_transaction_session_timeout`.split(/\s+/),
  textToId: 'CAST(? AS BIGINT)',
  idToText: 'CAST(id AS TEXT)',
  migrations: {
    '001_plants': ['CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)'],
  },
  // Also waits until the synchronous standby, if any, has every earlier commit.
  commit: "SELECT pg_logical_emit_message(true, 'plant-store', '')",
  // The key is "PLNT".
  migrationLock: `SELECT pg_advisory_xact_lock(${0x504c4e54})`,
  // client_min_messages=error hides cancelled waits for a standby. Reported even without a standby, because one may be added later.
  nonDurableSettings: `SELECT name || '=' || setting AS setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
       OR (name, setting) = ('client_min_messages', 'error')
       OR current_setting('synchronous_standby_names') <> ''
          AND (name, setting) IN (('synchronous_commit', 'local'), ('synchronous_commit', 'remote_write'))
    UNION ALL SELECT 'the table plants is not logged' FROM pg_class
      WHERE oid = 'plants'::regclass AND relpersistence <> 'p'`,

  // By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  classify(error) {
    if (/^(40|55P03)/.test(toCode(error))) return 'busy';
    return /^(22|23|44|54|P0001)/.test(toCode(error)) ? 'rejected' : 'unavailable';
  },

  async insert(knex, plants) {
    const { rows } = await knex.raw(INSERT, [JSON.stringify(plants.map(toRow))]);
    return exclude(plants, rows);
  },
};

/** Describes a PostgreSQL database for `openRepository`. The parameters of the URL are those of libpq and pg. */
export function postgresDatabase(options: DatabaseServerOptions): Database {
  const { url, timeoutMs } = options;
  const connection = {
    connectionString: url,
    application_name: 'plant-store',
    keepAlive: true,
    statement_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  };
  return serverDatabase(options, postgres, connection, async (client: Client) => {
    const { connection } = client;
    // A pooler knows the connection only until it ends. If the cancelled wait succeeds meanwhile, there is a notice.
    onStall(connection.stream, timeoutMs, (destroy) => requestCancel(client).once('close', destroy));
    connection.on('notice', ({ routine }) => {
      // A cancelled wait for the standby: a success with a warning, known by the function of the server that raised it.
      if (routine === 'SyncRepWaitForLSN')
        connection.emit('error', new Error('the wait for the standby was cancelled'));
    });
    // A session stays read-only after its default, `default_transaction_read_only`, changes.
    connection.on('errorMessage', ({ code }) => code === '25006' && connection.stream.end());
  });
}

/** Asks the server, or a pooler, to cancel a statement (PostgreSQL, 54.2.8: Canceling Requests in Progress). */
function requestCancel({ host, port, processID, secretKey }: Client): Socket {
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) request.writeInt32BE(value, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  // The other side closes the connection; pgbouncer drops a request whose sender closes first.
  socket.write(request);
  return socket.on('error', () => {}).resume();
}

/** The part of the driver's client that is used here. */
interface Client {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: EventEmitter & { readonly stream: Socket };
}
