import { hash } from 'node:crypto';
import { type StaticToken, StaticTokenVerifier } from '@plant-store/adapters/static-token';

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
  // Checks them now, so that a setting is reported with the others.
  new StaticTokenVerifier(tokens);
  return tokens;
}

/** Returns whether a client can have this name: `sha256=` is a mistyped `sha256:`. */
export function isClientName(name: string): boolean {
  return /^(?!sha256$)[\w.@-]+$/i.test(name);
}
