import type { Context } from 'mocha';
import { Program } from '../support/executable.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';

/** Skips a test without strace, or without the permission to trace. */
export function skipUnlessTraceable(context: Context): void {
  skipUnlessInstalled(context, 'strace', '-o', '/dev/null', 'true');
}

/** Returns the command prefix that writes the system calls of a program to `file`, for {@link systemCalls}. */
export function strace(file: string, calls: string, ...options: readonly string[]): readonly [string, ...string[]] {
  return ['strace', '-f', '-y', '-s', '8192', ...options, '-e', 'signal=none', '-e', `trace=${calls}`, '-o', file];
}

/** Delays every sync of processes and their future children, as a slow disk does, until the returned program is killed. */
export async function slowSyncs(folder: string, pids: readonly number[], delayMs: number): Promise<Program> {
  const calls = 'fsync,fdatasync';
  const injection = ['-e', `inject=${calls}:delay_enter=${delayMs * 1000}`, ...pids.map((pid) => `--attach=${pid}`)];
  const program = new Program(folder, strace('/dev/null', calls, ...injection));
  for (const pid of pids) await program.waitForOutput(new RegExp(`Process ${pid} attached`));
  return program;
}

/** A system call in a trace of `strace -f -y -o FILE`. */
export interface SystemCall {
  readonly name: string;
  /** The arguments as strace prints them, with the path after each file descriptor. */
  readonly args: string;
  readonly result: number;
  /** Positions of its start and end among the events of all threads. */
  readonly began: number;
  readonly ended: number;
}

/**
 * Parses the completed calls of a trace. Joins calls that strace splits when another thread interleaves:
 * `PID NAME(ARGS <unfinished ...>` and `PID <... NAME resumed>ARGS) = RESULT`.
 */
export function systemCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>();
  for (const [place, line] of trace.split('\n').entries()) {
    const [, pid = '', event = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const start = /^(.*) <unfinished \.\.\.>$/.exec(event)?.[1];
    if (start !== undefined) {
      unfinished.set(pid, { text: start, began: place });
      continue;
    }
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(event)?.[1];
    const { text, began } = (rest !== undefined && unfinished.get(pid)) || { text: '', began: place };
    const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(rest === undefined ? event : text + rest) ?? [];
    if (name !== undefined && args !== undefined) {
      calls.push({ name, args, result: Number(result), began, ended: place });
    }
  }
  return calls;
}

/** Returns whether `call` synced the file or folder with this path. */
export function isSyncOf({ name, args, result }: SystemCall, path: string): boolean {
  return /^f(data)?sync$/.test(name) && result === 0 && args.replace(/^\d+</, '').startsWith(`${path}>`);
}

/** Returns whether `call` ended before `other` began. */
export function isBefore(call: Pick<SystemCall, 'ended'>, other: Pick<SystemCall, 'began'>): boolean {
  return call.ended < other.began;
}
