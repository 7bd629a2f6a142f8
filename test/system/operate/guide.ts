import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLI, Program } from '../../support/executable.js';
import { codeBlocks, section } from '../../support/guide.js';

/** Returns the shell commands under a heading of a guide, one string per code block. */
export function commandsUnder(heading: string, guide = 'docs/operate.md'): readonly string[] {
  const blocks = codeBlocks(section(guide, heading));
  return blocks.flatMap(({ language, text }) => (language === 'sh' ? text : []));
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
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'plant-store'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, { mode: 0o755 });
  const PATH = `${bin}:${process.env['PATH']}`;
  const shell = new Program(folder, ['sh', '-uc', commands ?? 'false'], { PATH, ...environment });
  expect(await shell.exited(), `${commands}${shell.stderr}`).to.equal(0);
  return shell.stdout;
}
