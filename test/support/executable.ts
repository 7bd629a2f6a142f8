import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { after, afterEach } from 'mocha';
import { lookThroughOutput } from './emitted.js';

/** The compiled executable. */
export const CLI: string = fileURLToPath(new URL('../../composition/cli.js', import.meta.url));

/** Programs that have not ended yet. */
const running = new Set<Program>();
function endAll(): void {
  for (const program of running) program.killGroup('SIGKILL');
}
process.once('exit', endAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.kill(process.pid, signal);
  });
}

/** Ends, with the surrounding suite, the programs that it started for all of its tests. Call it inside `describe`. */
export function endProgramsAfterAll(): void {
  after(() => Promise.all([...running].map((program) => program.killGroup('SIGKILL').exited())));
}

/** Ends, with each test, the programs that it started and did not end, also where it fails. Call it inside `describe`. */
export function endProgramsAfterEach(): void {
  const end = () => Promise.all([...running].map((program) => program.killGroup('SIGKILL').exited()));
  afterEach(end);
  // After a `before` that failed there is no test, and so no `afterEach`.
  after(end);
}

/** A run of a program, from outside. It leads a process group of its own, as a shell's jobs do. */
export class Program {
  readonly process: ChildProcess;
  readonly #exit: Promise<number | NodeJS.Signals>;
  stdout = '';
  stderr = '';

  /**
   * @param folder the working directory
   * @param environment all of the environment but PATH, NODE_V8_COVERAGE and the like; no management listener by default
   */
  constructor(folder: string, command: readonly [string, ...string[]], environment: Readonly<Record<string, string>>) {
    const [program, ...args] = command;
    const { PATH, HOME, NODE_V8_COVERAGE } = process.env;
    this.process = spawn(program, args, {
      cwd: folder,
      env: { PATH, HOME, ...(NODE_V8_COVERAGE ? { NODE_V8_COVERAGE } : {}), MANAGEMENT_PORT: 'off', ...environment },
      stdio: 'pipe',
      detached: true,
    });
    running.add(this);
    // A character may come in two pieces.
    this.process.stdout?.setEncoding('utf8').on('data', (chunk) => {
      this.stdout += chunk;
      this.process.emit('news');
    });
    this.process.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.stderr += chunk;
      this.process.emit('news');
    });
    this.#exit = once(this.process, 'close').then(([code, signal]) => {
      running.delete(this);
      lookThroughOutput(this, environment);
      this.process.emit('news');
      return code ?? signal;
    });
  }

  /** Waits for a text on standard output or error; fails where the process ends before it comes. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        await this.#exit;
        const last = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
        if (last) return last;
        throw new Error(`the process ended without ${pattern}: ${this.stdout}${this.stderr}`);
      }
      await once(this.process, 'news');
    }
  }

  /** The port that it listens on, once it does. */
  async port(): Promise<number> {
    return Number((await this.says(/listens on http:\/\/\S*:(\d+)/))[1]);
  }

  /** The exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exit;
  }

  kill(signal: NodeJS.Signals): this {
    this.process.kill(signal);
    return this;
  }

  /** Signals the program and all that it started, as a terminal does at Ctrl-C. */
  killGroup(signal: NodeJS.Signals): this {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, signal);
    } catch {
      // They have ended meanwhile.
    }
    return this;
  }

  /** Types on its standard input. */
  type(text: string): this {
    this.process.stdin?.write(text);
    return this;
  }
}

/** A run of the executable, from outside. */
export class Executable extends Program {
  /**
   * @param folder the working directory
   * @param environment all of the environment but PATH, NODE_V8_COVERAGE and the like
   * @param command what runs the executable, such as `strace …`; Node by itself by default
   */
  constructor(
    folder: string,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
    command: readonly string[] = [],
  ) {
    const [program = process.execPath, ...programArgs] = [...command, process.execPath, CLI, ...args];
    super(folder, [program, ...programArgs], environment);
  }
}
