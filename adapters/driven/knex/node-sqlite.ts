import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { NodeSqliteError, WorkerFile, WorkerReply, WorkerRequest } from './node-sqlite-worker.js';
import {
  type FileMode,
  MAX_STATEMENTS,
  type SqliteConnection,
  type SqliteDriver,
  type SqliteRow,
} from './sqlite-driver.js';

/** The names of SQLite's primary result codes, from 0 (https://sqlite.org/rescode.html). */
const CODES = `OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN
  PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB`.split(/\s+/);

/**
 * Node's own `node:sqlite`. It blocks the thread that calls it, so each connection has a worker thread
 * (docs/decisions/0034-sqlite-without-a-compiler.md).
 */
export const nodeSqlite: SqliteDriver = {
  name: 'node:sqlite',
  async open(path, mode) {
    const connection = new Connection(path, mode);
    await connection.opened;
    return connection;
  },
};

/** The program of the worker. Read once, because a process may give up the right to read it. */
let workerUrl: URL | undefined;

function readWorker(): URL {
  const program = readFileSync(new URL('./node-sqlite-worker.js', import.meta.url), 'utf8');
  return new URL(`data:text/javascript,${encodeURIComponent(program)}`);
}

class Connection implements SqliteConnection {
  readonly opened: Promise<unknown>;
  readonly #worker: Worker;
  /** The requests in flight. The worker replies in the same order. */
  readonly #inFlight: Pick<PromiseWithResolvers<readonly SqliteRow[]>, 'resolve' | 'reject'>[] = [];
  /** The number of requests that were sent. The worker waits for it to change. */
  readonly #sent = new Int32Array(new SharedArrayBuffer(4));
  #failure: Error | undefined;

  constructor(path: string, mode: FileMode) {
    const workerData: WorkerFile = { sent: this.#sent, path, mode, maxStatements: MAX_STATEMENTS };
    workerUrl ??= readWorker();
    // Otherwise Node prints on standard error that its SQLite is experimental.
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    this.#worker = new Worker(workerUrl, { workerData, execArgv })
      .on('message', (reply: WorkerReply) => this.#settle(reply))
      .on('error', (error) => this.#fail(toError(error)))
      .on('exit', () => this.#fail(new Error('the connection is closed')));
    this.opened = this.#awaitReply();
  }

  all(sql: string, bindings: readonly unknown[] = []): Promise<readonly SqliteRow[]> {
    return this.#request({ sql, bindings });
  }

  async exec(sql: string): Promise<void> {
    await this.#request({ sql });
  }

  async close(): Promise<void> {
    await this.#request({ call: 'close' });
  }

  async leaveOpen(): Promise<void> {
    await this.#request({ call: 'leaveOpen' });
  }

  async #request(request: WorkerRequest): Promise<readonly SqliteRow[]> {
    if (this.#failure) throw this.#failure;
    this.#worker.postMessage(request);
    Atomics.add(this.#sent, 0, 1);
    Atomics.notify(this.#sent, 0);
    return this.#awaitReply();
  }

  #awaitReply(): Promise<readonly SqliteRow[]> {
    // An idle connection does not keep the process running.
    if (this.#inFlight.length === 0) this.#worker.ref();
    return new Promise((resolve, reject) => this.#inFlight.push({ resolve, reject }));
  }

  #settle(reply: WorkerReply): void {
    const request = this.#inFlight.shift();
    if (this.#inFlight.length === 0) this.#worker.unref();
    if ('rows' in reply) request?.resolve(reply.rows);
    else request?.reject(toError(reply.error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const request of this.#inFlight.splice(0)) request.reject(this.#failure);
  }
}

/** Returns an error with the same `code` as one of `sqlite3`. */
function toError(error: unknown): Error {
  const { code, errcode }: NodeSqliteError = Object(error);
  // The low byte is the primary code.
  const name = errcode === undefined ? code : `SQLITE_${CODES[errcode & 0xff]}`;
  return Object.assign(new Error(name), { code: name });
}
