import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { inRepository } from '../support/paths.js';

/** A program that is measured. */
export interface Program {
  readonly name: string;
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it has no table `plants` in a SQLite file, with a write-ahead log and `synchronous=FULL`. */
  readonly storesNothing?: boolean;
}

/** Port and access token of every program. */
export const PORT = 3905;
export const TOKEN = 'bench-token-0123456789';

const peer = (file: string) => inRepository(`test/bench/peers/${file}`);
const betterSqlite3 = ['--import', peer('use-better-sqlite3.js')];
const singleFileServer = inRepository('dist/docs/examples/single-file/server.js');
const twoPortsServer = inRepository('dist/docs/examples/two-ports/main.js');
const groupCommit = { GROUP_COMMIT: 'on' };

export const koaEcho: Program = { name: 'Koa echo', args: [peer('koa-echo.js')], storesNothing: true };
export const singleFile: Program = {
  name: 'single file, better-sqlite3, group commit',
  args: [...betterSqlite3, singleFileServer],
  env: groupCommit,
};
/** All others that store plants. */
export const storingPeers: readonly Program[] = [
  { name: 'two ports, better-sqlite3, group commit', args: [...betterSqlite3, twoPortsServer], env: groupCommit },
  { name: 'single file, better-sqlite3', args: [...betterSqlite3, singleFileServer] },
  { name: 'single file, sqlite3, group commit', args: [singleFileServer], env: groupCommit },
  { name: 'single file, sqlite3', args: [singleFileServer] },
  { name: 'Fastify + better-sqlite3', args: [peer('fastify-better-sqlite3.js')] },
  { name: 'Koa + Knex + sqlite3', args: [peer('koa-knex.js')] },
];

/** A running program, which has stored one plant. */
export type Server = Awaited<ReturnType<typeof startServer>>;

/** Starts a program with an empty store, and creates one plant. */
export async function startServer({ name, args, env }: Program, parent: string) {
  const folder = mkdtempSync(join(parent, 'server-'));
  const file = join(folder, 'plants.db');
  const log = join(folder, 'log');
  const output = openSync(log, 'w');
  const settings = { PORT: `${PORT}`, MANAGEMENT_PORT: 'off', ACCESS_TOKEN: TOKEN, ACCESS_TOKENS: TOKEN };
  const store = { DATABASE_FILE: file, DATABASE_URL: `sqlite:${file}` };
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...settings, ...store, ...env },
    stdio: ['ignore', output, output],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exit = once(child, 'exit').finally(() => process.off('exit', kill));
  while (!(await createOne())) {
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(0, 2000)}`);
    await setTimeout(5);
  }
  const startMs = performance.now() - began;
  const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read('status'))?.[1]) / 1024;
  return {
    file,
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

/** Creates a plant; returns whether the program listens. */
async function createOne(): Promise<boolean> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Connection: 'close' };
  const body = '{"id":1,"name":"Monstera","tag":"indoor"}';
  const response = await fetch(`http://127.0.0.1:${PORT}/plants`, { method: 'POST', headers, body }).catch(() => null);
  const text = await response?.text();
  if (response && text !== '{"name":"Monstera","tag":"indoor"}') throw new Error(`a create failed: ${text}`);
  return response !== null;
}
