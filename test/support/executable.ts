import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The compiled executable. */
export const CLI: string = fileURLToPath(new URL('../../composition/cli.js', import.meta.url));

/** A run of the executable, from outside. */
export class Executable {
  readonly process: ChildProcess;
  readonly #exit: Promise<number | NodeJS.Signals>;
  stdout = '';
  stderr = '';

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
    const { PATH, HOME, NODE_V8_COVERAGE } = process.env;
    const [program = process.execPath, ...programArgs] = [...command, process.execPath, CLI, ...args];
    this.process = spawn(program, programArgs, {
      cwd: folder,
      env: { PATH, HOME, ...(NODE_V8_COVERAGE ? { NODE_V8_COVERAGE } : {}), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
      this.process.emit('news');
    });
    this.process.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
      this.process.emit('news');
    });
    this.#exit = once(this.process, 'close').then(([code, signal]) => {
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
    return Number((await this.says(/listens on http:\/\/.*:(\d+)/))[1]);
  }

  /** The exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals> {
    return this.#exit;
  }

  kill(signal: NodeJS.Signals): this {
    this.process.kill(signal);
    return this;
  }
}
