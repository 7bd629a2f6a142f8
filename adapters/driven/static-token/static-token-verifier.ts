import { hash, timingSafeEqual } from 'node:crypto';
import type { TokenVerifier, Verification } from '@plant-store/core';

/** A token, and the name of its client. */
type StaticToken = Readonly<{ name: string; digest: Buffer }>;

/**
 * Accepts the tokens (RFC 6750 §2.1, `b64token`) on a list of entries: `NAME=TOKEN`, or `NAME=sha256:HEX` with the digest.
 * Entries with the same name are tokens of one client. Without a name, a client is called `sha256:` and the first 12
 * digits of the digest.
 *
 * Compares SHA-256 digests in constant time, and always all of them, so that the duration reveals only the length of the
 * token that was sent, the number of tokens on the list, and whether the token that was sent was accepted before.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #tokens: readonly StaticToken[];
  /** The digests of tokens that were accepted before, so that each is computed once. */
  readonly #digests = new Map<string, Buffer>();

  /** @throws {TypeError} An entry is invalid, or two clients have the same token. */
  constructor(entries: readonly string[]) {
    this.#tokens = toTokens(entries);
  }

  /** Replaces the list. @throws {TypeError} As the constructor does; the previous tokens stay accepted. */
  replace(entries: readonly string[]): void {
    this.#tokens = toTokens(entries);
    this.#digests.clear();
  }

  async verify(token: string): Promise<Verification> {
    const sent = this.#digests.get(token) ?? Buffer.from(sha256(token), 'hex');
    let accepted: StaticToken | undefined;
    for (const each of this.#tokens) {
      if (timingSafeEqual(sent, each.digest)) accepted = each;
    }
    if (accepted === undefined) return { kind: 'invalid' };
    this.#digests.set(token, accepted.digest);
    return { kind: 'valid', principal: { subject: accepted.name } };
  }
}

/** Checks a list of entries. @throws {TypeError} The message has the position of an invalid entry, not its content. */
export function assertTokens(entries: readonly string[]): void {
  toTokens(entries);
}

/** Returns whether a client can have this name: `sha256=` is a mistyped `sha256:`. */
export function isClientName(name: string): boolean {
  return /^(?!sha256$)[\w.@-]+$/i.test(name);
}

/** Parses a text with one entry per line. Ignores blank lines and `#` comments. */
export function parseTokens(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function toTokens(entries: readonly string[]): readonly StaticToken[] {
  const names = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    const problem = (text: string) => new TypeError(`token ${index + 1} ${text}`);
    if (typeof entry !== 'string') throw problem('is not a string');
    // What precedes the first `=` is a name. So `ali=` is not the token of a client without a name.
    const [, name, token = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(entry) ?? [];
    if (name !== undefined && !isClientName(name))
      throw problem('must have a name of A-Z a-z 0-9 . _ @ - before its =');
    const [, digest] = /^sha256:([0-9a-f]{64})$/i.exec(token) ?? [];
    if (digest === undefined && !/^[A-Za-z0-9._~+/-]+=*$/.test(token))
      throw problem(
        'must consist of A-Z a-z 0-9 . _ ~ + / -, or of sha256: and 64 hexadecimal digits; a token that ends in = needs a name',
      );
    const hex = digest?.toLowerCase() ?? sha256(token);
    const client = name ?? `sha256:${hex.slice(0, 12)}`;
    if ((names.get(hex) ?? client) !== client) throw problem('is also the token of another client');
    names.set(hex, client);
  }
  return Array.from(names, ([hex, name]) => ({ name, digest: Buffer.from(hex, 'hex') }));
}

function sha256(text: string): string {
  // Decoding these digits is faster than the encoding 'buffer'.
  return hash('sha256', text, 'hex');
}
