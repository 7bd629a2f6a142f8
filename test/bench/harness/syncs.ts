import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './bench.js';
import type { Candidate } from './candidates.js';
import { closedLoop } from './closed-loop.js';
import { Server } from './server.js';
import type { Store } from './stores.js';

/** Whether system calls can be traced: requires strace 5.3 or newer and permission from the kernel. */
export const canTrace: boolean = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true']).status === 0;

/** A traced sync, on the system clock. */
export interface Sync {
  readonly beganMs: number;
  readonly tookMs: number;
}

/** Traces the syncs of a program, and optionally delays them. */
export class SyncTrace {
  /** Command prefix that runs a program. */
  readonly command: readonly string[];
  readonly #file: string;

  /** @param delayMs additional duration of each sync */
  constructor(folder: string, delayMs = 0) {
    this.#file = join(folder, 'syncs.trace');
    const calls = 'fsync,fdatasync';
    const slowed = delayMs > 0 ? ['-e', `inject=${calls}:delay_exit=${delayMs * 1000}`] : [];
    this.command = ['strace', '-f', '--seccomp-bpf', '-ttt', '-T', '-o', this.#file, '-e', `trace=${calls}`, ...slowed];
  }

  /** Returns the syncs that began between two times of the system clock. Call it after the program has exited. */
  between(fromMs: number, toMs: number): Sync[] {
    // PID SECONDS NAME(ARGS) = RESULT <SECONDS>, split into two lines if another thread interleaves.
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    const began = new Map<string, number>();
    const syncs: Sync[] = [];
    for (const line of lines) {
      const [, pid = '', at = '', call = ''] = /^(\d+) +([\d.]+) (.*)$/.exec(line) ?? [];
      if (/^f(data)?sync\(/.test(call)) began.set(pid, Number(at) * 1000);
      const took = /<([\d.]+)>$/.exec(call)?.[1];
      const beganMs = began.get(pid);
      if (took === undefined || beganMs === undefined) continue;
      if (beganMs >= fromMs && beganMs <= toMs) syncs.push({ beganMs, tookMs: Number(took) * 1000 });
    }
    return syncs;
  }
}

/** Measures syncs per request in a separate, short run; returns `undefined` if they cannot be counted. */
export async function syncsPerResponse(
  candidate: Candidate,
  connections: number,
  settings: Settings,
): Promise<number | undefined> {
  const store = await candidate.storage?.create(settings.folder);
  try {
    if (store?.syncs !== undefined) return await countByEngine(candidate, store, store.syncs, connections, settings);
    if (store !== undefined && canTrace) return await countByTrace(candidate, store, connections, settings);
    return undefined;
  } finally {
    await store?.drop();
  }
}

/** Counts from before the start until after the exit, because an engine may count syncs when a connection closes. */
async function countByEngine(
  candidate: Candidate,
  store: Store,
  syncs: () => Promise<number>,
  connections: number,
  { folder, warmUpSeconds }: Settings,
): Promise<number> {
  const before = await syncs();
  const server = await Server.start(candidate, store, folder);
  try {
    const { responses } = await closedLoop(server.port, connections, warmUpSeconds);
    await server.kill();
    return ((await syncs()) - before) / responses;
  } finally {
    await server.kill();
  }
}

async function countByTrace(
  candidate: Candidate,
  store: Store,
  connections: number,
  { folder, warmUpSeconds }: Settings,
): Promise<number> {
  const trace = new SyncTrace(folder);
  const server = await Server.start(candidate, store, folder, trace.command);
  try {
    const beganMs = Date.now();
    const { responses } = await closedLoop(server.port, connections, warmUpSeconds);
    const endedMs = Date.now();
    await server.kill();
    return trace.between(beganMs, endedMs).length / responses;
  } finally {
    await server.kill();
  }
}
