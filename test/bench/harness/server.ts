import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Candidate } from './candidates.js';
import type { Store } from './stores.js';

/** The token that every program lets in. */
export const TOKEN = 'bench-token-0123456789';

/** Programs that have not ended yet; none outlives the harness. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killGroup(child);
});

/** Clock ticks a second in /proc: fixed for programs, whatever the kernel's own (`man 5 proc`). */
const TICKS_PER_SECOND = 100;

/** A program under test. */
export class Server {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #pid: number;

  private constructor(child: ChildProcess, pid: number, port: number) {
    this.#child = child;
    this.#pid = pid;
    this.port = port;
  }

  /**
   * Starts it; resolves once it listens. What it logs goes to a file in `folder`.
   *
   * @param under a command that runs it, such as `strace …`
   */
  static async start(
    { name, args, environment }: Candidate,
    store: Store | undefined,
    folder: string,
    under: readonly string[] = [],
  ): Promise<Server> {
    const [program = process.execPath, ...rest] = [...under, process.execPath, ...args];
    const log = join(folder, 'server.log');
    const logFile = openSync(log, 'w');
    const child = spawn(program, rest, {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        MANAGEMENT_PORT: '0',
        ACCESS_TOKENS: TOKEN,
        ...store?.environment,
        ...environment,
      },
      stdio: ['ignore', 'pipe', logFile],
      detached: true,
    });
    closeSync(logFile);
    running.add(child);
    child.once('exit', () => running.delete(child));
    const port = await portOf(child);
    if (port === undefined) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(0, 2000)}`);
    return new Server(child, under.length > 0 ? childOf(child.pid) : (child.pid ?? 0), port);
  }

  /** The processor time that it has taken so far, in the kernel and outside, in milliseconds. */
  cpuMs(): number {
    // The name of the program, in parentheses, may hold spaces.
    const fields = readFileSync(`/proc/${this.#pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }

  /** The most memory that it has held at once, in MiB. */
  peakMemoryMib(): number {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  /** Ends it as a crash does; resolves when it has ended. */
  async kill(): Promise<void> {
    if (!running.has(this.#child)) return;
    const ended = once(this.#child, 'exit');
    killGroup(this.#child);
    await ended;
  }
}

/** The port that it says it listens on; `undefined` where it ends without saying so. */
async function portOf(child: ChildProcess): Promise<number | undefined> {
  if (child.stdout === null) return undefined;
  try {
    for await (const line of createInterface(child.stdout)) {
      const port = /listens on http:\/\/\S*:(\d+)/.exec(line)?.[1];
      if (port !== undefined) return Number(port);
    }
    return undefined;
  } finally {
    // What it prints later is dropped, so that it does not wait for a reader.
    child.stdout.resume();
  }
}

/** The process that `pid` started. */
function childOf(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
