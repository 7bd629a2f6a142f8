import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connectTo } from '../support/database-servers.js';
import { postgresEngine, serverStore, sqliteStore, type TestStore } from '../support/engines.js';
import { CLI, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';

/** A program that is measured. */
export interface Contender {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its table `plants` is: by default, in a SQLite file with a write-ahead log and `synchronous=FULL`. */
  readonly store?: 'postgres';
  /** Whether each sync takes 5 ms longer. */
  readonly hasSlowDisk?: boolean;
}

/** Runs a program whose syncs take 5 ms longer. */
const slowDisk =
  'strace -D -f -qq --seccomp-bpf -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_exit=5000';

/** A program that runs. */
export type Server = Awaited<ReturnType<typeof startServer>>;

/** The access token of every program. */
export const TOKEN = 'bench-token-0123456789';

const peer = (file: string) => inRepository(`test/bench/peers/${file}`);
const sqlite3OnPg = ['--import', peer('sqlite3-on-pg.js')];
const singleFileServer = inRepository('dist/docs/examples/single-file/server.js');
const twoPortsServer = inRepository('dist/docs/examples/two-ports/main.js');
const groupCommit = { GROUP_COMMIT: 'on' };

export const plantStore: Contender = { name: 'Plant Store', args: [CLI] };
const singleFile: Contender = { name: 'single file, sqlite3', args: [singleFileServer], env: groupCommit };
const withoutLog: Contender = { name: 'Plant Store, ACCESS_LOG=off', args: [CLI], env: { ACCESS_LOG: 'off' } };
const fastify: Contender = { name: 'Fastify + better-sqlite3', args: [peer('fastify-better-sqlite3.js')] };

/** The programs of each table, the first of which the others are compared to. */
export const contenders = {
  sqlite: [
    singleFile,
    withoutLog,
    plantStore,
    { name: 'two ports, sqlite3', args: [twoPortsServer], env: groupCommit },
    fastify,
  ],
  'slow-disk': [singleFile, withoutLog, fastify].map((program) => ({ ...program, hasSlowDisk: true })),
  postgres: [
    { name: 'single file, pg', args: [...sqlite3OnPg, singleFileServer], env: groupCommit, store: 'postgres' },
    { ...withoutLog, store: 'postgres' },
    { ...plantStore, store: 'postgres' },
  ],
  start: [singleFile, plantStore],
} satisfies Readonly<Record<string, readonly Contender[]>>;

const root = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));

const postgres = connectTo(postgresEngine);
/** `fetch` refuses some lower ports. */
let lastPort = 20_000;

/** Creates a store; on PostgreSQL, in a schema of its own. */
async function createStore(kind: Contender['store'], folder: string, schema: string): Promise<TestStore> {
  if (kind !== 'postgres') return sqliteStore(join(folder, 'plants.db'));
  const url = new URL(postgresEngine.url);
  url.searchParams.set('options', `-c search_path=${schema}`);
  await postgres.raw(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
  return serverStore(url.href, connectTo({ client: 'pg', url: url.href }));
}

/** Starts a program with an empty store and a log in a file, and creates one plant. */
export async function startServer({ args, env, store: kind, hasSlowDisk = false }: Contender) {
  const folder = mkdtempSync(join(root, '-'));
  const port = ++lastPort;
  const schema = `plant_store_bench_${port}`;
  const store = await createStore(kind, folder, schema);
  const settings = { PORT: `${port}`, MANAGEMENT_PORT: '0', ACCESS_TOKEN: TOKEN, ACCESS_TOKENS: TOKEN };
  const stores = { DATABASE_FILE: join(folder, 'plants.db'), DATABASE_URL: store.url };
  const began = performance.now();
  const tracer = hasSlowDisk ? slowDisk.split(' ') : [];
  const command = ['sh', '-c', 'exec "$@" >log 2>&1', 'sh', ...tracer, process.execPath, ...args] as const;
  const program = new Program(folder, command, { ...settings, ...stores, ...env });
  // Each attempt has another id, because a program may store a plant and lose its response.
  for (let id = 1; !(await create(port, id)); id++) {
    if (!program.isRunning) throw new Error(readFileSync(join(folder, 'log'), 'utf8').slice(0, 2000));
    await setTimeout(5);
  }
  return {
    port,
    store,
    /** The time from the start of the process to its first response. */
    startMs: performance.now() - began,
    /** Returns the processor time of its threads so far. */
    cpuMs() {
      const threads = `/proc/${program.process.pid}/task`;
      // In nanoseconds (`man 5 proc`); /proc/PID/stat has steps of 10 ms.
      const times = readdirSync(threads).map((id) => readFileSync(`${threads}/${id}/schedstat`, 'utf8'));
      return times.reduce((sum, time) => sum + Number.parseInt(time, 10), 0) / 1e6;
    },
    kill: () => program.killGroup('SIGKILL').exited(),
    removeStore: async () => kind === 'postgres' && postgres.raw(`DROP SCHEMA ${schema} CASCADE`),
  };
}

/** Creates a plant with an id below those of the loads; returns whether there was a response. */
async function create(port: number, id: number): Promise<boolean> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Connection: 'close' };
  const body = `{"id":${id},"name":"Monstera","tag":"indoor"}`;
  const response = fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body });
  const text = await response.then((each) => each.text()).catch(() => undefined);
  if (text !== undefined && text !== '{"name":"Monstera","tag":"indoor"}') throw new Error(`a create failed: ${text}`);
  return text !== undefined;
}
