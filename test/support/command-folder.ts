import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, type CommandResult, Program } from './executable.js';
import { temporaryFolder } from './temporary.js';

/** A temporary folder for running commands of the executable. Create it inside `describe`; the suite removes it. */
export class CommandFolder {
  readonly path: string = temporaryFolder();
  #files = 0;

  /** Writes a new file, and returns its name. */
  newFile(text: string, extension = 'ndjson'): string {
    const name = `${++this.#files}.${extension}`;
    writeFileSync(join(this.path, name), text);
    return name;
  }

  /** Returns the setting for a SQLite database that does not exist yet. */
  newDatabase(): { readonly DATABASE_URL: string } {
    return { DATABASE_URL: `sqlite:${++this.#files}.db` };
  }

  /** Runs a shell command line, in which `$PLANT_STORE` is the executable. */
  shell(line: string, environment: Readonly<Record<string, string>>): Promise<CommandResult> {
    const settings = { ...environment, PLANT_STORE: `${process.execPath} ${CLI}` };
    return new Program(this.path, ['sh', '-c', line], settings).result();
  }
}
