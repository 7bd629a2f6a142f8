import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { after, afterEach } from 'mocha';
import { checkOutput } from './secret-leaks.js';

/** Path of the compiled executable. */
export const CLI: string = fileURLToPath(new URL('../../composition/cli.js', import.meta.url));

/** Programs that have not exited yet. */
const running = new Set<Program>();
function killAll(): void {
  for (const program of running) program.killGroup('SIGKILL');
}
process.once('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killAll();
    process.kill(process.pid, signal);
  });
}

/** Kills running programs after the surrounding suite. Call it inside `describe`. */
export function endProgramsAfterAll(): void {
  after(() => Promise.all([...running].map((program) => program.killGroup('SIGKILL').exited())));
}

/** Kills running programs after each test of the surrounding suite. Call it inside `describe`. */
export function endProgramsAfterEach(): void {
  const killRunning = () => Promise.all([...running].map((program) => program.killGroup('SIGKILL').exited()));
  afterEach(killRunning);
  // If a `before` hook fails, no test and no `afterEach` runs.
  after(killRunning);
}

/** A child process. It leads its own process group, as a shell job does. */
export class Program {
  readonly process: ChildProcess;
  readonly #exit: Promise<number | NodeJS.Signals>;
  stdout = '';
  stderr = '';

  /**
   * @param folder the working directory
   * @param environment in addition to PATH, HOME and NODE_V8_COVERAGE; MANAGEMENT_PORT is `off` by default
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
    // A chunk may end in the middle of a UTF-8 character.
    this.process.stdout?.setEncoding('utf8').on('data', (chunk) => {
      this.stdout += chunk;
      this.process.emit('change');
    });
    this.process.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.stderr += chunk;
      this.process.emit('change');
    });
    this.#exit = once(this.process, 'close').then(([code, signal]) => {
      running.delete(this);
      checkOutput(this, environment);
      this.process.emit('change');
      return code ?? signal;
    });
  }

  /** Waits until standard output or error matches `pattern`; throws if the process exits first. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        await this.#exit;
        const last = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
        if (last) return last;
        throw new Error(`the process exited without printing ${pattern}: ${this.stdout}${this.stderr}`);
      }
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

  /** Waits for the process to exit, and returns the exit code or the signal that killed it. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exit;
  }

  kill(signal: NodeJS.Signals): this {
    this.process.kill(signal);
    return this;
  }

  /** Signals the whole process group, as a terminal does on Ctrl-C. */
  killGroup(signal: NodeJS.Signals): this {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, signal);
    } catch {
      // The processes have exited already.
    }
    return this;
  }

  /** Writes to standard input. */
  type(text: string): this {
    this.process.stdin?.write(text);
    return this;
  }
}

/** A running Plant Store executable. */
export class Executable extends Program {
  /**
   * @param folder the working directory
   * @param environment as for {@link Program}
   * @param command wrapper that runs the executable, such as `strace …`
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
