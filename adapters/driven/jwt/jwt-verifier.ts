import type { TokenVerifier, Verification } from '@plant-store/core';
import { isTokenIssuerUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import * as jose from 'jose';

/** The issuer whose JWTs are accepted. */
export interface JwtVerifierOptions {
  /** Required `iss` of a token. */
  readonly issuer: string;
  /** Required `aud` of a token; it may have others too. */
  readonly audience: string;
  /** URL of the issuer's JWK Set (RFC 7517 §5). */
  readonly jwksUrl: URL;
  /** Timeout for fetching the keys, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** Minimum interval between fetches, also after a failed one, in milliseconds. @default 30000 */
  readonly cooldownMs?: number | undefined;
}

/** Accepted signature algorithms: asymmetric only, never `none` or a shared secret (RFC 8725 §3.1). */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
/** RFC 7515 §7.1. Checked here, because jose accepts a token that a space follows. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Accepted `typ` header parameters: of any JWT (RFC 7519 §5.1), and of an access token (RFC 9068 §2.1). */
const TYPES = /^(application\/)?(at\+)?jwt$/i;
/** Maximum clock skew between the issuer and this machine, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Maximum size of a key set, after decompression. */
const MAX_KEY_SET_BYTES = 1024 ** 2;
/** Why a token is invalid, by the code of jose's error or by the claim. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWKS_NO_MATCHING_KEY: 'key',
  ERR_JWKS_INVALID: 'key',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  iss: 'issuer',
  aud: 'audience',
  exp: 'expiry',
  nbf: 'not-before',
};

/** Authenticates JWTs (RFC 7519) of one issuer for one audience, signed with a key that the issuer publishes. */
export class JwtVerifier implements TokenVerifier {
  readonly #checks;
  readonly #getKey: jose.JWTVerifyGetKey;

  /** @throws {TypeError} The issuer or the audience is empty: jose would then accept any. */
  constructor({ issuer, audience, jwksUrl, timeoutMs = 5000, cooldownMs = 30_000 }: JwtVerifierOptions) {
    if (!issuer || !audience) throw new TypeError('issuer and audience must be non-empty strings');
    const clockTolerance = CLOCK_TOLERANCE_SECONDS;
    this.#checks = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ['exp'], clockTolerance };
    const fetchKeys = createKeySetFetch(cooldownMs);
    const keySet = jose.createRemoteJWKSet(jwksUrl, {
      timeoutDuration: timeoutMs,
      cooldownDuration: cooldownMs,
      [jose.customFetch]: (url, init) =>
        fetchKeys(url, init).catch((cause) => {
          throw new TokenIssuerUnavailable(`cannot read the keys at ${jwksUrl.origin}${jwksUrl.pathname}`, { cause });
        }),
    });
    this.#getKey = async (header, token) => {
      const { coolingDown } = keySet;
      try {
        return await keySet(header, token);
      } catch (cause) {
        if (!(cause instanceof jose.errors.JWKSNoMatchingKey && coolingDown && typeof header.kid === 'string'))
          throw cause;
        throw new TokenIssuerUnavailable('the key is unknown, and may be newer than the last fetch', { cause });
      }
    };
  }

  async verify(token: string): Promise<Verification> {
    if (!COMPACT_JWS.test(token)) return invalid('malformed');
    try {
      const { payload, protectedHeader } = await this.#verify(token);
      const { typ = 'JWT' } = protectedHeader;
      if (typeof typ !== 'string' || !TYPES.test(typ)) return invalid('type');
      const { sub: subject } = payload;
      if (typeof subject !== 'string' || subject === '') return invalid('subject');
      return { kind: 'valid', principal: { subject, issuer: this.#checks.issuer } };
    } catch (error) {
      if (isTokenIssuerUnavailable(error)) throw error;
      if (error instanceof jose.errors.JWTClaimValidationFailed) return invalid(REASONS[error.claim]);
      return invalid(error instanceof jose.errors.JOSEError ? REASONS[error.code] : 'key');
    }
  }

  /** Tries each key that matches: without `kid` (optional, RFC 7515 §4.1.4), each of the algorithm, as during a rotation. */
  async #verify(token: string): Promise<jose.JWTVerifyResult> {
    try {
      return await jose.jwtVerify(token, this.#getKey, this.#checks);
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return await jose.jwtVerify(token, key, this.#checks);
        } catch (failure) {
          // An error of another class is that of a key which jose cannot use.
          const isOfToken = failure instanceof jose.errors.JOSEError;
          if (isOfToken && !(failure instanceof jose.errors.JWSSignatureVerificationFailed)) throw failure;
        }
      }
      throw new jose.errors.JWSSignatureVerificationFailed();
    }
  }
}

/**
 * Returns a `fetch` that fails for some time after each call: jose would call it for each forged token in an outage.
 * It fails unless the response is a key set, because any later error is that of a key or a token.
 */
function createKeySetFetch(cooldownMs: number): jose.FetchImplementation {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  return async (url, init) => {
    if (performance.now() - fetchedAt < cooldownMs) throw new Error('the last fetch failed');
    fetchedAt = performance.now();
    const response = await fetch(url, init);
    if (response.status !== 200) throw new Error(`the status is ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_KEY_SET_BYTES) throw new Error(`the key set is larger than ${MAX_KEY_SET_BYTES} bytes`);
      chunks.push(chunk);
    }
    const keySet = JSON.parse(Buffer.concat(chunks).toString());
    jose.createLocalJWKSet(keySet);
    // An empty key set would make jose reject every token.
    if (keySet.keys.length === 0) throw new Error('the key set is empty');
    return Response.json(keySet);
  };
}

function invalid(reason = 'malformed'): Verification {
  return { kind: 'invalid', reason };
}
