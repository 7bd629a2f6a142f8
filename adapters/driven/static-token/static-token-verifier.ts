import { hash, timingSafeEqual } from 'node:crypto';
import type { TokenVerifier, Verification } from '@plant-store/core';

/** The name of a client and its token, or the SHA-256 digest of the token in hexadecimal. */
export type StaticToken = { readonly name: string } & ({ readonly token: string } | { readonly digest: string });

/** A client and the digest of one of its tokens. */
type Client = Readonly<{ name: string; digest: Buffer }>;

/**
 * Accepts the tokens (RFC 6750 §2.1, `b64token`) on a list, of which a client may have several. The subject is its name.
 *
 * Compares SHA-256 digests in constant time, and always all of them, so that the duration reveals only the length of the
 * token that was sent, the number of tokens on the list, and whether the token that was sent was accepted before.
 */
export class StaticTokenVerifier implements TokenVerifier {
  #clients: readonly Client[];
  /** The digests of tokens that were accepted before, so that each is computed once. */
  readonly #digests = new Map<string, Buffer>();

  /** @throws {TypeError} A token is invalid, or two clients have the same one. The message has its position only. */
  constructor(tokens: readonly StaticToken[]) {
    this.#clients = toClients(tokens);
  }

  /** Replaces the list. @throws {TypeError} As the constructor does; the previous tokens stay accepted. */
  replace(tokens: readonly StaticToken[]): void {
    this.#clients = toClients(tokens);
    this.#digests.clear();
  }

  async verify(token: string): Promise<Verification> {
    const sent = this.#digests.get(token) ?? Buffer.from(sha256(token), 'hex');
    let accepted: Client | undefined;
    for (const client of this.#clients) {
      if (timingSafeEqual(sent, client.digest)) accepted = client;
    }
    if (accepted === undefined) return { kind: 'invalid' };
    this.#digests.set(token, accepted.digest);
    return { kind: 'valid', principal: { subject: accepted.name } };
  }
}

function toClients(tokens: readonly StaticToken[]): readonly Client[] {
  const names = new Map<string, string>();
  for (const [index, token] of tokens.entries()) {
    const problem = (text: string) => new TypeError(`token ${index + 1} ${text}`);
    const { name } = token;
    if (typeof name !== 'string' || name === '') throw problem('must have the name of its client');
    const digest = 'digest' in token ? `${token.digest}`.toLowerCase() : toDigest(token.token);
    if (digest === undefined) throw problem('must consist of A-Z a-z 0-9 . _ ~ + / -, and may end in =');
    if (!/^[0-9a-f]{64}$/.test(digest)) throw problem('must have a digest of 64 hexadecimal digits');
    if ((names.get(digest) ?? name) !== name) throw problem('is also the token of another client');
    names.set(digest, name);
  }
  return Array.from(names, ([digest, name]) => ({ name, digest: Buffer.from(digest, 'hex') }));
}

function toDigest(token: unknown): string | undefined {
  return typeof token === 'string' && /^[A-Za-z0-9._~+/-]+=*$/.test(token) ? sha256(token) : undefined;
}

function sha256(text: string): string {
  // Decoding these digits is faster than the encoding 'buffer'.
  return hash('sha256', text, 'hex');
}
