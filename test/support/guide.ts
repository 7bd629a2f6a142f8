import { readFileSync } from 'node:fs';
import { inRepository } from './paths.js';

/** Returns the section of a guide under a heading, including subsections; throws if it does not exist. */
export function section(guide: string, heading: string): string {
  const text = readFileSync(inRepository(guide), 'utf8');
  const [, hashes, rest] = new RegExp(`^(#+) ${heading}\\n(.*)`, 'ms').exec(text) ?? [];
  if (hashes === undefined || rest === undefined) throw new Error(`${guide} has no section ${heading}`);
  return rest.split(new RegExp(`^#{1,${hashes.length}} `, 'm'), 1)[0] ?? '';
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

/** Returns the fenced code blocks of a Markdown text, in order. */
export function codeBlocks(markdown: string): { language: string; text: string }[] {
  const blocks = markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, language = '', text = '']) => ({ language, text }));
}
