import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../../composition/cli/run.js';
import type { CommandResult } from '../../support/executable.js';
import { checkOutput } from '../../support/secret-leaks.js';

/** Runs a command line in this process, in a folder. */
export async function runInProcess(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CommandResult> {
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: new PassThrough(), stderr: new PassThrough() };
  const output = Promise.all([text(streams.stdout), text(streams.stderr)]);
  const originals = Object.keys(streams).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value });
  const workingFolder = process.cwd();
  process.chdir(folder);
  try {
    const exitCode = await run(args, environment);
    for (const stream of [streams.stdout, streams.stderr]) stream.end();
    const [stdout, stderr] = await output;
    checkOutput({ stdout, stderr }, environment);
    return { exitCode, stdout, stderr };
  } finally {
    process.chdir(workingFolder);
    for (const [name, original] of originals) if (original) Object.defineProperty(process, name, original);
  }
}
