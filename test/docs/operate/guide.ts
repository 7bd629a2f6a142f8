import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLI, Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';

/** The text of the guide. */
export const guide: string = readFileSync(inRepository('docs/operate.md'), 'utf8');

/** The headings of the guide under which commands stand, and where they are run. */
export const headingsRun = {
  SQLite: 'backup.test.ts',
  PostgreSQL: 'backup.test.ts',
  'MariaDB and MySQL': 'backup.test.ts',
  'Any engine': 'backup.test.ts',
  'Before it': 'upgrade.test.ts',
  'Metrics and alerts': 'alerts.test.ts',
  Traces: 'test/wide/traces.test.ts',
} as const;

/** Those whose commands no test can run, and why. */
export const headingsNotRun = {
  Install: 'installs from the registry',
  'Under systemd': 'needs systemd as the first process',
  'Behind a proxy': 'changes the nginx of the machine; proxy.test.ts runs one of its own with the same configuration',
  'Instance by instance': 'needs the registry and systemd',
} as const;

/** The shell commands under each heading, one text for each block. */
export function commandBlocks(): ReadonlyMap<string, readonly string[]> {
  const blocks = new Map<string, string[]>();
  let heading = '';
  for (const [, title, commands] of guide.matchAll(/^#+ (.*)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else if (commands !== undefined) blocks.set(heading, [...(blocks.get(heading) ?? []), commands]);
  }
  return blocks;
}

/** The shell commands under a heading of the guide. */
export function commandsUnder(heading: keyof typeof headingsRun): readonly string[] {
  return commandBlocks().get(heading) ?? [];
}

/** Makes a folder for `PATH` in which there is `plant-store`, and returns it. */
export function programsFor(folder: string, node: string = process.execPath): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'plant-store'), `#!/bin/sh\nexec '${node}' '${CLI}' "$@"\n`, { mode: 0o755 });
  return bin;
}

/**
 * Runs commands of the guide as they stand there, in a shell that goes on where one fails, as a reader's does.
 *
 * @param folder the working directory
 * @param environment what the guide leaves to the reader
 * @returns what they wrote to standard output
 */
export async function run(
  commands: string | undefined,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const shell = new Program(folder, ['sh', '-uc', commands ?? 'false'], {
    PATH: `${programsFor(folder)}:${process.env['PATH']}`,
    ...environment,
  });
  expect(await shell.exited(), `${commands}${shell.stderr}`).to.equal(0);
  return shell.stdout;
}
