import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, Executable, endProgramsAfterEach, Program } from './executable.js';
import { temporaryFolder } from './temporary.js';

/** Exit code and output of a command. */
export interface CommandResult {
  readonly exitCode: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary folder for running commands of the executable. Create it inside `describe`; the suite removes it. */
export class CommandFolder {
  readonly path: string = temporaryFolder();
  #names = 0;

  constructor() {
    endProgramsAfterEach();
  }

  /** Returns an unused file name. */
  newName(extension: string): string {
    return `${++this.#names}.${extension}`;
  }

  /** Writes a new NDJSON file and returns its name. */
  newFile(text: string | Uint8Array): string {
    const name = this.newName('ndjson');
    writeFileSync(join(this.path, name), text);
    return name;
  }

  /** Returns the setting for a SQLite database that does not exist yet. */
  newDatabase(): { readonly DATABASE_URL: string } {
    return { DATABASE_URL: `sqlite:${this.newName('db')}` };
  }

  /** Returns the path of a SQLite database file. */
  fileOf({ DATABASE_URL }: { readonly DATABASE_URL: string }): string {
    return join(this.path, DATABASE_URL.slice('sqlite:'.length));
  }

  /** Runs the executable until it exits. */
  run(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    input: string | Uint8Array = '',
  ): Promise<CommandResult> {
    return runToEnd(new Executable(this.path, args, environment), input);
  }

  /** Runs a shell command line, in which `$PLANT_STORE` is the executable. */
  shell(
    line: string,
    environment: Readonly<Record<string, string>>,
    shell: readonly [string, ...string[]] = ['sh', '-c'],
  ): Promise<CommandResult> {
    const settings = { ...environment, PLANT_STORE: `${process.execPath} ${CLI}` };
    return runToEnd(new Program(this.path, [...shell, line], settings), '');
  }
}

async function runToEnd(program: Program, input: string | Uint8Array): Promise<CommandResult> {
  // A failing command may close its standard input early.
  program.process.stdin?.on('error', () => {});
  program.process.stdin?.end(input);
  const exitCode = await program.exited();
  return { exitCode, stdout: program.stdout, stderr: program.stderr };
}

/** Returns NDJSON lines for `count` plants with ascending ids from `first`. */
export function plantLines(first: number, count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `{"id":${first + index},"name":"plant ${first + index}"}\n`,
  );
  return lines.join('');
}
