import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory from 'knex';
import { type DatabaseServer, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { sum } from './statistics.js';

/** A storage engine. */
export interface Storage {
  readonly name: string;
  /** Returns the version of the engine, or `unavailable`. */
  version(): Promise<string>;
  /** Creates an empty store. */
  create(folder: string): Promise<Store>;
}

/** The store of one program. */
export interface Store {
  /** Environment variables for the program. */
  readonly environment: Readonly<Record<string, string>>;
  /** Counts the plants over a separate connection. */
  rows(): Promise<number>;
  /** Counts syncs, if the program runs under `command`. On SQLite, also delays each. */
  countSyncs(folder: string, delayMs: number): SyncCount;
  drop?(): Promise<unknown>;
}

export interface SyncCount {
  readonly command: readonly string[];
  /** Returns the number of syncs so far, and their duration without the delay. */
  read(): Promise<{ readonly syncs: number; readonly totalMs: number }>;
}

type Client = 'sqlite3' | DatabaseServer['client'];

/** Runs a statement over a new connection, and returns the first value of its first row. */
async function query(client: Client, connection: string | { filename: string }, sql: string): Promise<string> {
  const knex = knexFactory({ client, connection, useNullAsDefault: true, pool: { min: 0, max: 1 } });
  try {
    const result = await knex.raw(sql);
    const row = { sqlite3: result[0], pg: result.rows?.[0], mysql2: result[0]?.[0] }[client];
    return `${Object.values(row ?? {})[0]}`;
  } finally {
    await knex.destroy();
  }
}

const COUNT = 'SELECT count(*) FROM plants';

export const sqlite: Storage = {
  name: 'SQLite',
  version: () => query('sqlite3', { filename: ':memory:' }, 'SELECT sqlite_version()'),
  create: async (folder) => sqliteFile(join(mkdtempSync(join(folder, 'sqlite-')), 'plants.db')),
};

/** Returns the store in a SQLite file, which is removed with its folder. */
export function sqliteFile(filename: string): Store {
  return {
    environment: { DATABASE_URL: `sqlite:${filename}`, DATABASE_FILE: filename, DATABASE_CLIENT: 'sqlite3' },
    rows: async () => Number(await query('sqlite3', { filename }, COUNT)),
    countSyncs(folder, delayMs) {
      const [file, calls] = [join(folder, 'syncs.trace'), 'fsync,fdatasync'];
      const delay = delayMs > 0 ? ['-e', `inject=${calls}:delay_exit=${delayMs * 1000}`] : [];
      const command = ['strace', '-f', '--seccomp-bpf', '-e', `trace=${calls}`, ...delay, '-T', '-o', file];
      const read = async () => {
        // PID NAME(ARGS) = RESULT <SECONDS>
        const syncs = [...readFileSync(file, 'utf8').matchAll(/ <([\d.]+)>$/gm)];
        return { syncs: syncs.length, totalMs: sum(syncs, ([, seconds]) => Number(seconds) * 1000) };
      };
      return { command, read };
    },
  };
}

export const postgres: Storage = onServer(postgresServer, {
  drop: 'DROP SCHEMA ?? CASCADE',
  select: (url, name) => url.searchParams.set('options', `-c search_path=${name}`),
  syncs: 'SELECT wal_sync FROM pg_stat_wal',
  version: "SELECT current_setting('server_version')",
});

export const mariadb: Storage = onServer(mariadbServer, {
  drop: 'DROP SCHEMA ??',
  select: (url, name) => Object.assign(url, { pathname: `/${name}` }),
  syncs: `SELECT SUM(VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS
    WHERE VARIABLE_NAME IN ('INNODB_DATA_FSYNCS', 'INNODB_OS_LOG_FSYNCS')`,
  version: 'SELECT version()',
});

let stores = 0;

/** @param sql statements, and a change of the URL of the server to that of one of its databases */
function onServer(
  { name, client, url: serverUrl }: DatabaseServer,
  sql: Record<'drop' | 'syncs' | 'version', string> & { readonly select: (url: URL, name: string) => void },
): Storage {
  const ask = (statement: string) => query(client, serverUrl, statement);
  return {
    name,
    version: () => ask(sql.version).catch(() => 'unavailable'),
    async create() {
      const database = `plant_store_bench_${process.pid}_${++stores}`;
      await ask(`CREATE SCHEMA ${database}`);
      const url = new URL(serverUrl);
      sql.select(url, database);
      const read = async () => {
        // The engine may count the syncs of a closed connection late.
        await setTimeout(500);
        return { syncs: Number(await ask(sql.syncs)), totalMs: Number.NaN };
      };
      return {
        environment: { DATABASE_URL: url.href, DATABASE_CLIENT: client },
        rows: async () => Number(await query(client, url.href, COUNT)),
        countSyncs: () => ({ command: [], read }),
        drop: () => ask(sql.drop.replace('??', database)),
      };
    },
  };
}
