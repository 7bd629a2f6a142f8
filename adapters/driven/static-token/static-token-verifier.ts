import { hash, timingSafeEqual } from 'node:crypto';
import type { TokenVerifier, Verification } from '../../../core/index.js';

/**
 * Accepts the tokens on a list. Compares SHA-256 digests in constant time, and always all of them, so that the duration
 * reveals only the length of the token that was sent and the number of tokens on the list.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #digests: readonly Buffer[];

  /** @throws {TypeError} An entry is neither a token (RFC 6750 §2.1, `b64token`) nor a `sha256:<hex>` digest. */
  constructor(tokens: readonly string[]) {
    this.#digests = tokens.map(toDigest);
  }

  /**
   * Replaces the list.
   * @throws {TypeError} An entry is invalid. The previous tokens stay accepted.
   */
  replace(tokens: readonly string[]): void {
    this.#digests = tokens.map(toDigest);
  }

  async verify(token: string): Promise<Verification> {
    const sent = sha256(token);
    let match = -1;
    for (const [index, digest] of this.#digests.entries()) {
      if (timingSafeEqual(sent, digest)) match = index;
    }
    // The position, because the log must not contain anything derived from a token.
    return match === -1 ? { kind: 'invalid' } : { kind: 'valid', principal: { subject: `static-token-${match + 1}` } };
  }
}

/** Checks the entries of a list. @throws {TypeError} An entry is invalid; the message has its position, not the token. */
export function assertTokens(tokens: readonly string[]): void {
  tokens.forEach(toDigest);
}

/** Parses a text with one token or digest per line. Ignores blank lines and `#` comments. */
export function parseTokens(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function toDigest(token: string, index: number): Buffer {
  if (typeof token !== 'string') throw new TypeError(`token ${index + 1} is not a string`);
  const digest = /^sha256:(.*)$/i.exec(token)?.[1];
  if (digest !== undefined) {
    if (/^[0-9a-f]{64}$/i.test(digest)) return Buffer.from(digest, 'hex');
    throw new TypeError(`token ${index + 1} must have 64 hexadecimal digits after sha256:`);
  }
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return sha256(token);
  throw new TypeError(`token ${index + 1} must consist of A-Z a-z 0-9 . _ ~ + / - and may end in =`);
}

function sha256(text: string): Buffer {
  // Faster than the encoding 'buffer'.
  return Buffer.from(hash('sha256', text, 'hex'), 'hex');
}
