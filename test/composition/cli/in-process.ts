import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../../composition/cli/run.js';
import type { CommandResult } from '../../support/executable.js';
import { checkOutput } from '../../support/secret-leaks.js';

// Of a session in a terminal or of CI, whose standard error the replaced stream is not.
delete process.env['JOURNAL_STREAM'];

/** Replaces the standard streams during `work`, and returns its result and the output. */
export async function withStreams<T>(work: () => T | Promise<T>, { input = '', isTTY = false } = {}) {
  const stdout = new PassThrough();
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout, stderr };
  const output = Promise.all([text(stdout), text(stderr)]);
  const originals = Object.keys(streams).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  for (const [name, value] of Object.entries(streams)) Object.defineProperty(process, name, { value });
  try {
    const result = await work();
    for (const stream of [stdout, stderr]) stream.end();
    const [printed, reported] = await output;
    return { result, stdout: printed, stderr: reported };
  } finally {
    for (const [name, original] of originals) if (original) Object.defineProperty(process, name, original);
  }
}

/** Runs a command line in this process, in a folder. */
export async function runInProcess(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CommandResult> {
  const workingFolder = process.cwd();
  process.chdir(folder);
  try {
    const { result: exitCode, ...output } = await withStreams(() => run(args, environment), { input });
    checkOutput(output, environment);
    return { exitCode, ...output };
  } finally {
    process.chdir(workingFolder);
  }
}
