import { Readable, Writable } from 'node:stream';
import { run } from '../../../composition/cli/run.js';
import type { CommandResult } from '../../support/executable.js';
import { checkOutput } from '../../support/secret-leaks.js';

/** Collects output. */
class Output extends Writable {
  text = '';

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

/** Runs a command line in this process, in a folder, by default without lines such as "created a new, empty store". */
export async function runInProcess(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CommandResult> {
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: new Output(), stderr: new Output() };
  const originals = Object.keys(streams).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value });
  const workingFolder = process.cwd();
  process.chdir(folder);
  // A command handles signals until its process ends.
  const handlers = new Set(process.listeners('SIGTERM'));
  try {
    const exitCode = await run(args, { LOG_LEVEL: 'warn', MANAGEMENT_PORT: 'off', ...environment });
    const [stdout, stderr] = [streams.stdout.text, streams.stderr.text];
    checkOutput({ stdout, stderr }, environment);
    return { exitCode, stdout, stderr };
  } finally {
    process.chdir(workingFolder);
    for (const [name, original] of originals) if (original) Object.defineProperty(process, name, original);
    for (const handler of process.listeners('SIGTERM').filter((each) => !handlers.has(each)))
      process.off('SIGTERM', handler).off('SIGINT', handler);
  }
}
