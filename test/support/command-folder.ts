import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../composition/cli/run.js';
import { CLI, type CommandResult, type Environment, Program } from './executable.js';
import { checkOutput } from './secret-leaks.js';
import { temporaryFolder } from './temporary.js';

/** Replaces the standard streams during `work`, and returns its result and the output. */
export async function withStreams<T>(work: () => T | Promise<T>, { input = '', isTTY = false } = {}) {
  const { stdin, stdout, stderr } = Object.getOwnPropertyDescriptors(process);
  const output = new PassThrough();
  const errors = Object.assign(new PassThrough(), { isTTY });
  const texts = Promise.all([text(output), text(errors)]);
  Object.defineProperties(process, {
    stdin: { value: Readable.from([Buffer.from(input)]) },
    stdout: { value: output },
    stderr: { value: errors },
  });
  try {
    const result = await work();
    output.end();
    errors.end();
    const [printed, reported] = await texts;
    return { result, stdout: printed, stderr: reported };
  } finally {
    Object.defineProperties(process, { stdin, stdout, stderr });
  }
}

/** A temporary folder in which commands run. Create it inside `describe`; the suite removes it. */
export class CommandFolder {
  readonly path: string = temporaryFolder();
  #files = 0;

  /** Writes a new file, and returns its name. */
  newFile(content: string, extension = 'ndjson'): string {
    const name = `${++this.#files}.${extension}`;
    writeFileSync(join(this.path, name), content);
    return name;
  }

  /** Returns the setting for a SQLite database that does not exist yet. */
  newDatabase(): { readonly DATABASE_URL: string } {
    return { DATABASE_URL: `sqlite:${++this.#files}.db` };
  }

  /** Runs a command line in this process. */
  async run(args: readonly string[], environment: Environment = {}, input = ''): Promise<CommandResult> {
    const workingFolder = process.cwd();
    process.chdir(this.path);
    try {
      const { result: exitCode, ...output } = await withStreams(() => run(args, environment), { input });
      checkOutput(output, environment);
      return { exitCode, ...output };
    } finally {
      process.chdir(workingFolder);
    }
  }

  /** Runs a shell command line, in which `$PLANT_STORE` is the executable. */
  shell(line: string, environment: Environment): Promise<CommandResult> {
    const settings = { ...environment, PLANT_STORE: `${process.execPath} ${CLI}` };
    return new Program(this.path, ['sh', '-c', line], settings).result();
  }
}
