import { hash } from 'node:crypto';
import { assertTokens, type StaticToken } from '@plant-store/adapters/static-token';

/**
 * Parses entries: `NAME=TOKEN`, or `NAME=sha256:HEX` with the digest. Without a name, a client is called `sha256:` and the
 * first 12 digits of the digest.
 * @throws {TypeError} The message has the position of an invalid entry, not its content.
 */
export function parseEntries(entries: readonly string[]): readonly StaticToken[] {
  const tokens = entries.map((entry, index): StaticToken => {
    // What precedes the first `=` is a name. So `ali=` is not the token of a client without a name.
    const [, name, text = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(entry) ?? [];
    if (name !== undefined && !isClientName(name))
      throw new TypeError(`token ${index + 1} must have a name of A-Z a-z 0-9 . _ @ - before its =`);
    if (/^=*$/.test(text)) throw new TypeError(`token ${index + 1} is empty, or ends in = and has no name`);
    const [, digest] = /^sha256:(.*)$/is.exec(text) ?? [];
    const hex = digest?.toLowerCase() ?? hash('sha256', text, 'hex');
    const client = { name: name ?? `sha256:${hex.slice(0, 12)}` };
    return digest === undefined ? { ...client, token: text } : { ...client, digest: hex };
  });
  assertTokens(tokens);
  return tokens;
}

/** Splits a file with one entry per line. Ignores blank lines and `#` comments. */
export function toEntries(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** Returns whether a client can have this name: `sha256=` is a mistyped `sha256:`. */
export function isClientName(name: string): boolean {
  return /^(?!sha256$)[\w.@-]+$/i.test(name);
}
