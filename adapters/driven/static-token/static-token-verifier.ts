import { hash, timingSafeEqual } from 'node:crypto';
import type { TokenVerifier, Verification } from '../../../core/index.js';

/** A token, and the client whose token it is. */
interface StaticToken {
  readonly name: string;
  readonly digest: Buffer;
}

/** RFC 6750 §2.1, `b64token`. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const DIGEST = /^[0-9a-f]{64}$/i;

/** Number of hexadecimal digits of a digest that name a client without a name. */
const NAME_DIGITS = 12;

/**
 * Accepts the tokens on a list. An entry is `NAME=TOKEN` or `NAME=sha256:HEX`, the digest of a token. Entries with one
 * name are tokens of one client. Without a name, the client is called `sha256:` and the first digits of the digest.
 *
 * Compares SHA-256 digests in constant time, and always all of them, so that the duration reveals only the length of the
 * token that was sent and the number of tokens on the list.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #tokens: readonly StaticToken[];

  /** @throws {TypeError} An entry is invalid, or two clients have one token. */
  constructor(entries: readonly string[]) {
    this.#tokens = toTokens(entries);
  }

  /**
   * Replaces the list.
   * @throws {TypeError} An entry is invalid, or two clients have one token. The previous tokens stay accepted.
   */
  replace(entries: readonly string[]): void {
    this.#tokens = toTokens(entries);
  }

  async verify(token: string): Promise<Verification> {
    const sent = Buffer.from(sha256(token), 'hex');
    let subject: string | undefined;
    for (const { name, digest } of this.#tokens) {
      if (timingSafeEqual(sent, digest)) subject = name;
    }
    return subject === undefined ? { kind: 'invalid' } : { kind: 'valid', principal: { subject } };
  }
}

/** Checks the entries of a list. @throws {TypeError} As the verifier does; the message contains neither name nor token. */
export function assertTokens(entries: readonly string[]): void {
  toTokens(entries);
}

/** Returns whether a client can have this name. */
export function isClientName(name: string): boolean {
  return /^[\w.@-]+$/.test(name);
}

/** Parses a text with one entry per line. Ignores blank lines and `#` comments. */
export function parseTokens(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function toTokens(entries: readonly string[]): readonly StaticToken[] {
  const nameByDigest = new Map<string, string>();
  return entries.map((entry, index) => {
    const [name, hex] = parseEntry(entry, `token ${index + 1}`);
    const other = nameByDigest.get(hex) ?? name;
    if (other !== name) throw new TypeError('two clients have the same token');
    nameByDigest.set(hex, name);
    return { name, digest: Buffer.from(hex, 'hex') };
  });
}

/** Returns the name and the digest of an entry. */
function parseEntry(entry: string, position: string): readonly [name: string, hex: string] {
  if (typeof entry !== 'string') throw new TypeError(`${position} is not a string`);
  // A token may end in `=`, but does not if it has no name, because `ali=` may be a name whose token is missing.
  const [, name, token = ''] = /^(?:([^=]*)=)?(.*)$/s.exec(entry) ?? [];
  if (name !== undefined && !isClientName(name))
    throw new TypeError(`${position} must have a name of A-Z a-z 0-9 . _ @ - before its =`);
  const [, digest] = /^sha256:(.*)$/is.exec(token) ?? [];
  if (digest === undefined ? !TOKEN.test(token) : !DIGEST.test(digest))
    throw new TypeError(
      `${position} must consist of A-Z a-z 0-9 . _ ~ + / -, or of sha256: and 64 hexadecimal digits; a token that ends in = needs a name`,
    );
  const hex = digest?.toLowerCase() ?? sha256(token);
  return [name ?? `sha256:${hex.slice(0, NAME_DIGITS)}`, hex];
}

function sha256(text: string): string {
  // Decoding hexadecimal digits is faster than the encoding 'buffer'.
  return hash('sha256', text, 'hex');
}
