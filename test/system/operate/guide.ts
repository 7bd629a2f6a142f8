import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLI, Program } from '../../support/executable.js';
import { codeBlocks, section } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';

/** The text of the operations guide. */
export const guide: string = readFileSync(inRepository('docs/operate.md'), 'utf8');

/** Returns the shell commands under a heading, one string per code block; throws if the heading does not exist. */
export function commandsUnder(heading: string): readonly string[] {
  const blocks = codeBlocks(section('docs/operate.md', heading));
  return blocks.flatMap(({ language, text }) => (language === 'sh' ? text : []));
}

/** Creates a folder for `PATH` that contains `plant-store`, and returns it. */
export function createBinFolder(folder: string, node: string = process.execPath): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'plant-store'), `#!/bin/sh\nexec '${node}' '${CLI}' "$@"\n`, { mode: 0o755 });
  return bin;
}

/**
 * Runs commands of the guide verbatim, in a shell that continues after a failed command, as an interactive shell does.
 *
 * @param folder the working directory
 * @param environment variables that the guide expects the reader to set
 * @returns the standard output
 */
export async function run(
  commands: string | undefined,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const shell = new Program(folder, ['sh', '-uc', commands ?? 'false'], {
    ...environment,
    PATH: environment['PATH'] ?? `${createBinFolder(folder)}:${process.env['PATH']}`,
  });
  expect(await shell.exited(), `${commands}${shell.stderr}`).to.equal(0);
  return shell.stdout;
}
