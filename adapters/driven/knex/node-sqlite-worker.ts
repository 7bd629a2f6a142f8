import { pathToFileURL } from 'node:url';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { FileMode, SqliteRow } from './sqlite-driver.js';

/** The file that the worker opens. Its first reply tells that it has. */
export interface WorkerFile {
  /** The number of requests that were sent. */
  readonly sent: Int32Array<SharedArrayBuffer>;
  readonly path: string;
  readonly mode: FileMode;
  readonly maxStatements: number;
}

/** A statement with bindings, several statements without, or another call of a connection. */
export type WorkerRequest =
  | { readonly sql: string; readonly bindings?: readonly unknown[] }
  | { readonly call: 'leaveOpen' | 'close' };

/** The rows, or the error without its message, which may quote values. */
export type WorkerReply = { readonly rows: readonly SqliteRow[] } | { readonly error: NodeSqliteError };

/** A `node:sqlite` error. */
export interface NodeSqliteError {
  readonly code: string | undefined;
  /** SQLite's extended result code. */
  readonly errcode: number | undefined;
}

/** The part of `node:sqlite` that is used here. The types of Node 20 lack it. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly readOnly: boolean; readonly open?: boolean },
  ) => Database;
}

interface Database {
  prepare(sql: string): Statement;
  open(): void;
  exec(sql: string): void;
  close(): void;
}

interface Statement {
  all(...bindings: readonly unknown[]): readonly SqliteRow[];
}

const { DatabaseSync }: NodeSqlite = Object(process.getBuiltinModule('node:sqlite'));

const { sent, path, mode, maxStatements }: WorkerFile = workerData;
// Node 22.15 or newer accepts the URI.
const name = mode === 'immutable' ? `${pathToFileURL(path)}?immutable=1` : path;
// Node closes the databases of a thread that ends in the order of their creation; Node 22.13 in the reverse order. SQLite
// copies the log when it closes the last connection. One of the guards is closed after the database, and may not write.
const createGuard = () => new DatabaseSync(path, { readOnly: true, open: false });
const guards = [createGuard()];
const database = new DatabaseSync(name, { readOnly: mode !== 'rw' });
const statements = new Map<string, Statement>();

reply(() => []);
// Waits for requests itself, because the event loop takes longer to wake up.
for (let handled = 0, open = true; open; handled += 1) {
  Atomics.wait(sent, 0, handled);
  const request = receive();
  reply(() => run(request));
  open = !('call' in request && request.call === 'close');
}

function receive(): WorkerRequest {
  return Object(parentPort && receiveMessageOnPort(parentPort)).message;
}

function reply(work: () => readonly SqliteRow[]): void {
  let message: WorkerReply;
  try {
    message = { rows: work() };
  } catch (error) {
    const { code, errcode }: NodeSqliteError = Object(error);
    message = { error: { code, errcode } };
  }
  parentPort?.postMessage(message);
}

function run(request: WorkerRequest): readonly SqliteRow[] {
  if ('sql' in request) {
    const { sql, bindings } = request;
    if (bindings) return prepare(sql).all(...bindings);
    database.exec(sql);
  } else if (request.call === 'close') {
    database.close();
  } else {
    guards.push(createGuard());
    for (const guard of guards) {
      guard.open();
      guard.exec('SELECT 1 FROM sqlite_schema');
    }
  }
  return [];
}

function prepare(sql: string): Statement {
  const cached = statements.get(sql);
  if (cached) return cached;
  if (statements.size === maxStatements) statements.clear();
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}
