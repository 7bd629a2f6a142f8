import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLI, Program } from './executable.js';
import { inRepository } from './paths.js';

/** Returns the section of a guide under a heading, including subsections; throws if it does not exist. */
export function section(guide: string, heading: string): string {
  const text = readFileSync(inRepository(guide), 'utf8');
  const [, hashes, rest] = new RegExp(`^(#+) ${heading}\\n(.*)`, 'ms').exec(text) ?? [];
  if (hashes === undefined || rest === undefined) throw new Error(`${guide} has no section ${heading}`);
  return rest.split(new RegExp(`^#{1,${hashes.length}} `, 'm'), 1)[0] ?? '';
}

/** Returns the fenced code blocks of a Markdown text, in order. */
export function codeBlocks(markdown: string): { language: string; text: string }[] {
  const blocks = markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, language = '', text = '']) => ({ language, text }));
}

/** Returns the shell commands under a heading of docs/operate.md, one string per code block. */
export function commandsUnder(heading: string): readonly string[] {
  const blocks = codeBlocks(section('docs/operate.md', heading));
  return blocks.flatMap(({ language, text }) => (language === 'sh' ? text : []));
}

/** Runs commands of a guide, as an interactive shell does, with variables that its reader sets. Returns the output. */
export async function runCommands(
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

/** Reads a configuration in docs/operate and replaces strings; throws unless each occurs once. */
export function configuration(name: string, replacements: Readonly<Record<string, string>>): string {
  let text = readFileSync(inRepository(`docs/operate/${name}`), 'utf8');
  for (const [from, to] of Object.entries(replacements)) {
    if (text.split(from).length !== 2) throw new Error(`${name} does not contain once: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}
