import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Candidate } from './candidates.js';
import type { Store } from './stores.js';

/** The access token of every program. */
export const TOKEN = 'bench-token-0123456789';

/** Running programs, which are killed when the harness exits. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killGroup(child);
});

/** Clock ticks per second in /proc, independent of the kernel's own tick rate (`man 5 proc`). */
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
   * Starts a program and waits until it listens. Its log goes to a file in `folder`.
   *
   * @param command wrapper that runs the program, such as `strace …`
   */
  static async start(
    { name, args, environment }: Candidate,
    store: Store | undefined,
    folder: string,
    command: readonly string[] = [],
  ): Promise<Server> {
    const [program = process.execPath, ...rest] = [...command, process.execPath, ...args];
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
    const port = await readPort(child);
    if (port === undefined) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(0, 2000)}`);
    return new Server(child, command.length > 0 ? readFirstChild(child.pid) : (child.pid ?? 0), port);
  }

  /** Returns the user and system processor time used so far. */
  cpuMs(): number {
    // The program name, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${this.#pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }

  /** Returns the peak resident memory. */
  peakMemoryMib(): number {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  /** Kills the program and waits until it has exited. */
  async kill(): Promise<void> {
    if (!running.has(this.#child)) return;
    const ended = once(this.#child, 'exit');
    killGroup(this.#child);
    await ended;
  }
}

/** Waits for the port in the program's output; returns `undefined` if it exits first. */
async function readPort(child: ChildProcess): Promise<number | undefined> {
  if (child.stdout === null) return undefined;
  try {
    for await (const line of createInterface(child.stdout)) {
      const port = /listens on http:\/\/\S*:(\d+)/.exec(line)?.[1];
      if (port !== undefined) return Number(port);
    }
    return undefined;
  } finally {
    // Discard further output, so that the program never blocks on it.
    child.stdout.resume();
  }
}

/** Reads the id of the first child process of `pid`. */
function readFirstChild(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has exited already.
  }
}
