import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { inRepository } from './paths.js';
import { checkOutput } from './secret-leaks.js';

/** Path of the compiled executable. */
export const CLI: string = inRepository('dist/composition/cli/main.js');

/** Programs that have not exited yet. */
export const runningPrograms: Set<Program> = new Set();
process.once('exit', () => {
  for (const program of runningPrograms) program.killGroup('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** The exit code of a program, or the signal that killed it. */
type Exit = number | NodeJS.Signals;

/** Environment variables. */
export type Environment = Readonly<Record<string, string>>;

/** The end of a program, and its output. */
export interface CommandResult {
  readonly exitCode: Exit;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program in a process group of its own, as a shell starts a job. It is killed after the test that started it. */
export class Program {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #exit: Promise<Exit>;
  /** Whether it is killed after the suite instead, as it is if a hook has started it. */
  isLasting = false;
  isRunning = true;
  stdout = '';
  stderr = '';

  /** @param environment in addition to a few variables of this process; there is no management listener by default */
  constructor(folder: string, [program = '', ...args]: readonly string[], environment: Environment = {}) {
    const { PATH, HOME, NODE_V8_COVERAGE } = process.env;
    // Node 22 and 24 warn of node:sqlite. Node passes no variable whose value is undefined.
    const defaults = { NODE_OPTIONS: '--disable-warning=ExperimentalWarning', MANAGEMENT_PORT: 'off' };
    const env = { PATH, HOME, NODE_V8_COVERAGE, ...defaults, ...environment };
    this.process = spawn(program, args, { cwd: folder, env, detached: true });
    runningPrograms.add(this);
    for (const stream of ['stdout', 'stderr'] as const) {
      this.process[stream].setEncoding('utf8').on('data', (text) => {
        this[stream] += text;
        this.process.emit('change');
      });
    }
    // A program that fails may not read its standard input.
    this.process.stdin.on('error', () => {});
    this.#exit = once(this.process, 'close').then(([code, signal]) => {
      runningPrograms.delete(this);
      this.isRunning = false;
      checkOutput(this, environment);
      this.process.emit('change');
      return code ?? signal;
    });
  }

  /** Waits until standard output or error matches `pattern`; throws if the program exits first. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match;
      if (!this.isRunning) throw new Error(`exited without printing ${pattern}: ${this.stdout}${this.stderr}`);
      await once(this.process, 'change');
    }
  }

  /** Waits until the service listens, and returns its port. */
  async port(): Promise<number> {
    return Number((await this.waitForOutput(/listens on http:\/\/\S*:(\d+)/))[1]);
  }

  /** Waits until the management listener is up, and returns its port. */
  async managementPort(): Promise<number> {
    return Number((await this.waitForOutput(/metrics: http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  }

  exited(): Promise<Exit> {
    return this.#exit;
  }

  /** Ends standard input, and waits for the program to exit. */
  async result(input = ''): Promise<CommandResult> {
    this.process.stdin.end(input);
    return { exitCode: await this.#exit, stdout: this.stdout, stderr: this.stderr };
  }

  kill(signal: NodeJS.Signals): this {
    this.process.kill(signal);
    return this;
  }

  /** Shuts the service down. */
  stop(): Promise<Exit> {
    return this.kill('SIGTERM').exited();
  }

  /** Signals every process that the program has started, too, as a terminal does on Ctrl-C. */
  killGroup(signal: NodeJS.Signals): this {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, signal);
    } catch {
      // The processes have exited already.
    }
    return this;
  }

  /** Returns the resident memory in MiB: now, or `VmHWM`, its peak. */
  memoryMib(what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'latin1');
    return Number(RegExp(`^${what}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  }
}

/** Starts the Plant Store executable. `wrapper` is a command that runs it, such as `strace …`. */
export function plantStore(
  folder: string,
  args: readonly string[] = [],
  environment: Environment = {},
  wrapper: readonly string[] = [],
): Program {
  return new Program(folder, [...wrapper, process.execPath, CLI, ...args], environment);
}
