import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { isPlantStoreError, type Principal, TokenIssuerUnavailable, type TokenVerifier } from '../../../core/index.js';

/** The issuer whose JWTs are accepted. */
export interface JwtVerifierOptions {
  /** Required `iss` of a token. */
  readonly issuer: string;
  /** Required `aud` of a token; it may have others too. */
  readonly audience: string;
  /** URL of the issuer's JWK Set (RFC 7517 §5). */
  readonly jwksUrl: URL;
  /** Timeout for fetching the keys, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number;
  /** Minimum interval between fetches, also after a failed one, in milliseconds. Default: 30,000. */
  readonly cooldownMs?: number;
}

/** Accepted signature algorithms: asymmetric only, never `none` or a shared secret (RFC 8725 §3.1). */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** RFC 7515 §7.1. Checked here because some base64url decoders ignore spaces and line breaks. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Accepted `typ` header parameters: of any JWT (RFC 7519 §5.1), and of an access token (RFC 9068 §2.1). */
const TYPES = /^(application\/)?(at\+)?jwt$/i;

/** Maximum clock skew between the issuer and this machine, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Maximum size of a JWK Set after decompression, in bytes. A hundred RSA keys take 60 kB. */
const MAX_JWKS_BYTES = 1024 * 1024;

/** Maximum age of fetched keys, in milliseconds, because an attacker who blocks the issuer must not keep a revoked key valid. */
const MAX_JWKS_AGE_MS = 10 * 60 * 1000;

/** Age of the keys from which a token causes a fetch and does not wait for it, so that a short outage has no effect. */
const REFRESH_AGE_MS = MAX_JWKS_AGE_MS / 2;

/** Authenticates JWTs (RFC 7519) of one issuer for one audience, signed with a key that the issuer publishes. */
export class JwtVerifier implements TokenVerifier {
  readonly #options: JwtVerifierOptions;
  readonly #getKey: JWTVerifyGetKey;
  /** The age of the issuer's keys, `Infinity` before the first fetch, and how many fetches have failed. */
  readonly keys: { readonly ageMs: number; readonly fetchFailures: number };

  /** @throws {TypeError} The issuer or the audience is empty: the library would then accept any. */
  constructor(options: JwtVerifierOptions) {
    for (const name of ['issuer', 'audience'] as const)
      if (typeof options[name] !== 'string' || options[name] === '')
        throw new TypeError(`${name} must be a non-empty string`);
    this.#options = options;
    const { getKey, keys } = createKeyGetter(options);
    this.keys = keys;
    this.#getKey = async (header, token) => {
      try {
        return await getKey(header, token);
      } catch (error) {
        if (TOKEN_FAULTS.some((fault) => error instanceof fault)) throw error;
        const { origin, pathname } = options.jwksUrl;
        // The errors of fetch have a code instead, in their cause.
        const reason = error instanceof errors.JOSEError ? `: ${error.message}` : '';
        throw new TokenIssuerUnavailable(`cannot read the keys at ${origin}${pathname}${reason}`, { cause: error });
      }
    };
  }

  async verify(token: string): Promise<Principal | undefined> {
    if (!COMPACT_JWS.test(token)) return undefined;
    try {
      return await this.#authenticate(token, this.#getKey);
    } catch (error) {
      if (isPlantStoreError(error)) throw error;
      return error instanceof errors.JWKSMultipleMatchingKeys ? this.#authenticateWithAnyKey(token, error) : undefined;
    }
  }

  async #authenticate(token: string, getKey: JWTVerifyGetKey): Promise<Principal | undefined> {
    const { issuer, audience } = this.#options;
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp'],
    });
    const { typ = 'JWT' } = protectedHeader;
    if (typeof typ !== 'string' || !TYPES.test(typ)) return undefined;
    return typeof payload.sub === 'string' && payload.sub !== '' ? { subject: payload.sub } : undefined;
  }

  /** Tries every matching key, because a token need not name its key (RFC 7515 §4.1.4). */
  async #authenticateWithAnyKey(token: string, keys: errors.JWKSMultipleMatchingKeys): Promise<Principal | undefined> {
    for await (const key of keys) {
      const principal = await this.#authenticate(token, async () => key).catch(() => undefined);
      if (principal) return principal;
    }
    return undefined;
  }
}

/**
 * Creates a function that gets the key of a token, and fetches the issuer's keys if needed. Measures times with a
 * monotonic clock: jose uses the wall clock, so a clock set back would keep a revoked key valid.
 */
function createKeyGetter({ jwksUrl, timeoutMs = 5000, cooldownMs = 30_000 }: JwtVerifierOptions) {
  const keySet = createRemoteJWKSet(jwksUrl, {
    timeoutDuration: timeoutMs,
    cooldownDuration: Number.POSITIVE_INFINITY,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: fetchWithLimit,
  });
  const minIntervalMs = Math.min(cooldownMs, MAX_JWKS_AGE_MS);
  let lastFetch = Promise.resolve();
  let startedAt = Number.NEGATIVE_INFINITY;
  /** When the fetch that returned the current keys started. */
  let keysFrom = Number.NEGATIVE_INFINITY;
  const keys = {
    get ageMs() {
      return performance.now() - keysFrom;
    },
    fetchFailures: 0,
  };
  /** Joins the last fetch, or its failure, until the next one is allowed: otherwise each forged token causes one. */
  const fetchKeys = (): Promise<void> => {
    if (performance.now() - startedAt < minIntervalMs) return lastFetch;
    const start = performance.now();
    startedAt = start;
    lastFetch = keySet.reload().then(() => {
      keysFrom = start;
    });
    // Otherwise ignored here: the token that needs the keys reports the error.
    lastFetch.catch(() => keys.fetchFailures++);
    return lastFetch;
  };
  const getKey: JWTVerifyGetKey = async (header, token) => {
    if (keys.ageMs >= MAX_JWKS_AGE_MS) await fetchKeys();
    else if (keys.ageMs >= REFRESH_AGE_MS) void fetchKeys();
    try {
      return await keySet(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await fetchKeys();
      return keySet(header, token);
    }
  };
  return { getKey, keys };
}

/** Like `fetch`, but reading the body fails beyond {@link MAX_JWKS_BYTES}. */
const fetchWithLimit: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  async function* limitedBody() {
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_JWKS_BYTES) throw new Error(`the issuer's response exceeds ${MAX_JWKS_BYTES} bytes`);
      yield chunk;
    }
  }
  return new Response(ReadableStream.from(limitedBody()), response);
};

/** Errors caused by the token, not by an unavailable issuer. */
const TOKEN_FAULTS = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
