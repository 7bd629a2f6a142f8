import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inRepository } from '../support/paths.js';
import { createPostgresStore, createSqliteStore, temporaryFolder } from './store.js';

/** A program that is measured. */
export interface Program {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its table `plants` is: by default, in a SQLite file with a write-ahead log and `synchronous=FULL`. */
  readonly store?: 'postgres' | 'none';
  /** Name of the program that it is compared to; the first by default. */
  readonly baseline?: string;
}

/** Port and access token of every program. */
export const PORT = 3905;
export const TOKEN = 'bench-token-0123456789';
/** The first id of a load. */
export const FIRST_ID = 1e9;

const peer = (file: string) => inRepository(`test/bench/peers/${file}`);
const betterSqlite3 = ['--import', peer('sqlite3-on-better-sqlite3.js')];
const singleFileServer = inRepository('dist/docs/examples/single-file/server.js');
const twoPortsServer = inRepository('dist/docs/examples/two-ports/main.js');
const env = { GROUP_COMMIT: 'on' };

export const koaEcho: Program = { name: 'Koa echo', args: [peer('koa-echo.js')], store: 'none' };
const groupCommit = ', better-sqlite3, group commit';
export const singleFile: Program = {
  name: `single file${groupCommit}`,
  args: [...betterSqlite3, singleFileServer],
  env,
};
export const singleFileOnPostgres: Program = {
  name: 'single file, pg, group commit',
  args: ['--import', peer('sqlite3-on-pg.js'), singleFileServer],
  env,
  store: 'postgres',
};
export const koaKnex: Program = { name: 'Koa + Knex + sqlite3', args: [peer('koa-knex.js')] };
/** All others that store plants. */
export const storingPeers: readonly Program[] = [
  { name: `two ports${groupCommit}`, args: [...betterSqlite3, twoPortsServer], env },
  { name: 'single file, better-sqlite3', args: [...betterSqlite3, singleFileServer] },
  { name: 'single file, sqlite3, group commit', args: [singleFileServer], env },
  { name: 'single file, sqlite3', args: [singleFileServer] },
  { name: 'Fastify + better-sqlite3', args: [peer('fastify-better-sqlite3.js')] },
  koaKnex,
];

/** Starts a program with an empty store, and creates one plant. */
export async function startServer({ name, args, env, store: kind }: Program) {
  const store = await (kind === 'postgres' ? createPostgresStore() : createSqliteStore());
  const log = join(temporaryFolder(), 'log');
  const output = openSync(log, 'w');
  const settings = { PORT: `${PORT}`, MANAGEMENT_PORT: 'off', ACCESS_TOKEN: TOKEN, ACCESS_TOKENS: TOKEN };
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...settings, ...store.env, ...env },
    stdio: ['ignore', output, output],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exit = once(child, 'exit').finally(() => process.off('exit', kill));
  // Each attempt has another id, because a program may store a plant and lose its response.
  for (let id = 1; !(await create(id)); id++) {
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(0, 2000)}`);
    await setTimeout(5);
  }
  const startMs = performance.now() - began;
  const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read('status'))?.[1]) / 1024;
  return {
    store,
    /** The time from the start of the process to its first response. */
    startMs,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** Returns the user and system processor time so far, in steps of 10 ms (`man 5 proc`). */
    cpuMs() {
      const [, user, system] = /^.*\)(?: \S+){11} (\d+) (\d+) /s.exec(read('stat')) ?? [];
      return (Number(user) + Number(system)) * 10;
    },
    memoryMib: () => mib('VmRSS'),
    peakMemoryMib: () => mib('VmHWM'),
    async kill() {
      kill();
      await exit;
    },
  };
}

/** Creates a plant with an id below those of the loads; returns whether there was a response. */
async function create(id: number): Promise<boolean> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Connection: 'close' };
  const body = `{"id":${id},"name":"Monstera","tag":"indoor"}`;
  const response = fetch(`http://127.0.0.1:${PORT}/plants`, { method: 'POST', headers, body });
  const text = await response.then((each) => each.text()).catch(() => undefined);
  if (text === undefined) return false;
  if (text !== '{"name":"Monstera","tag":"indoor"}') throw new Error(`a create failed: ${text}`);
  return true;
}
