import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { type Principal, TokenIssuerUnavailable, type TokenVerifier } from '../../core/index.js';

/** Whose JWTs are let in. */
export interface JwtVerifierOptions {
  /** The `iss` that a token must have. */
  readonly issuer: string;
  /** The `aud` that a token must have, among others perhaps. */
  readonly audience: string;
  /** Where the issuer's keys are (RFC 7517 §5). */
  readonly jwksUrl: URL;
  /** How long the issuer is waited for, in milliseconds. */
  readonly timeoutMs?: number;
  /** After a look at the keys, how long until the next one for a key that was not there, in milliseconds. */
  readonly cooldownMs?: number;
}

/** Signatures that only the holder of a private key can make; never `none`, never a shared secret (RFC 8725 §3.1). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** RFC 7515 §7.1. Not every decoder of base64url minds blanks or line breaks. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** How far the clocks of the issuer and of this machine may be apart, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** The largest answer of an issuer that is read, inflated, in bytes. A set of a hundred RSA keys has 60 kB. */
const KEYS_BYTES_MAX = 1024 * 1024;

/** How long keys are believed without another look, in milliseconds. */
const KEYS_AGE_MS_MAX = 10 * 60 * 1000;

/** Lets in who has a JWT (RFC 7519) of one issuer, for one audience, signed with a key that the issuer publishes. */
export class JwtVerifier implements TokenVerifier {
  readonly #options: JwtVerifierOptions;
  readonly #key: JWTVerifyGetKey;

  constructor(options: JwtVerifierOptions) {
    this.#options = options;
    const keys = createRemoteJWKSet(options.jwksUrl, {
      timeoutDuration: options.timeoutMs ?? 5000,
      cooldownDuration: options.cooldownMs ?? 30_000,
      cacheMaxAge: KEYS_AGE_MS_MAX,
      [customFetch]: fetchWithLimit,
    });
    this.#key = async (header, token) => {
      try {
        return await keys(header, token);
      } catch (error) {
        if (isAboutTheToken(error)) throw error;
        throw new TokenIssuerUnavailable('the keys of the issuer cannot be read', { cause: error });
      }
    };
  }

  async verify(token: string): Promise<Principal | undefined> {
    if (!COMPACT_JWS.test(token)) return undefined;
    try {
      return await this.#principalOf(token, this.#key);
    } catch (error) {
      if (error instanceof TokenIssuerUnavailable) throw error;
      return error instanceof errors.JWKSMultipleMatchingKeys ? this.#principalByAny(token, error) : undefined;
    }
  }

  async #principalOf(token: string, key: JWTVerifyGetKey): Promise<Principal> {
    const { issuer, audience } = this.#options;
    const { payload } = await jwtVerify(token, key, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp'],
    });
    return { subject: typeof payload.sub === 'string' && payload.sub !== '' ? payload.sub : issuer };
  }

  /** A token need not name its key (RFC 7515 §4.1.4); an issuer that rotates has several that it may be. */
  async #principalByAny(token: string, keys: errors.JWKSMultipleMatchingKeys): Promise<Principal | undefined> {
    for await (const key of keys) {
      const principal = await this.#principalOf(token, async () => key).catch(() => undefined);
      if (principal) return principal;
    }
    return undefined;
  }
}

/** An answer that is longer than a set of keys may be fails while it is read. */
const fetchWithLimit: FetchImplementation = async (url, options) => {
  const { body, status, headers } = await fetch(url, options);
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > KEYS_BYTES_MAX)
        controller.error(new Error(`the issuer answers with more than ${KEYS_BYTES_MAX} bytes`));
      else controller.enqueue(chunk);
    },
  });
  return new Response(body?.pipeThrough(limit) ?? null, { status, headers });
};

/** Whether the issuer's keys could be read, and it is the token that does not fit them. */
function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
