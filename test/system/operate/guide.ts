import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLI, Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';

/** The text of the operations guide. */
export const guide: string = readFileSync(inRepository('docs/operate.md'), 'utf8');

/** Headings whose commands tests run. */
export const headingsRun = [
  ...(['In a container', 'SQLite', 'PostgreSQL', 'MariaDB and MySQL', 'Any engine'] as const),
  ...(['Before the upgrade', 'Metrics and alerts', 'Traces'] as const),
] as const;

/** Headings with commands that no test can run, and the reason. */
export const headingsNotRun = {
  Install: 'installs from the registry',
  'Under systemd': 'needs systemd as the first process',
  'Behind a proxy': 'reconfigures the nginx of the machine; proxy.test.ts starts nginx with the same configuration',
  'Rolling upgrade': 'needs the registry and systemd',
} as const;

/** Returns the shell commands under each heading, one string per code block. */
export function commandBlocks(): ReadonlyMap<string, readonly string[]> {
  const blocks = new Map<string, string[]>();
  let heading = '';
  for (const [, title, commands] of guide.matchAll(/^#+ (.*)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else if (commands !== undefined) blocks.set(heading, [...(blocks.get(heading) ?? []), commands]);
  }
  return blocks;
}

/** Returns the shell commands under a heading. */
export function commandsUnder(heading: (typeof headingsRun)[number]): readonly string[] {
  return commandBlocks().get(heading) ?? [];
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
