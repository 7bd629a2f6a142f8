import { randomBytes } from 'node:crypto';
import { parseTokens, StaticTokenVerifier } from '@plant-store/adapters/static-token';
import type { TokenVerifier } from '@plant-store/core';
import { type Config, InvalidConfig, isLoopback, readText, withoutPath } from './config.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The static tokens of the settings, and the verifier that accepts them. */
export class AccessTokens {
  readonly verifier: StaticTokenVerifier;
  /** The only accepted token, if no credential is configured. */
  randomToken: string | undefined;
  readonly #config: Config;

  /** @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
  constructor(config: Config) {
    this.verifier = new StaticTokenVerifier(config.accessTokens);
    this.#config = config;
    this.reload();
  }

  /** Reads the file again. @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. The previous tokens stay accepted. */
  reload(): void {
    const { accessTokens, accessTokensFile: path } = this.#config;
    if (path === undefined) return;
    try {
      const tokens = parseTokens(readText(path));
      if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
      // The file first, because a message has the position of its entry.
      this.verifier.replace([...tokens, ...accessTokens]);
    } catch (error) {
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${withoutPath(error)}`);
    }
  }

  /** Accepts a new random token alone. */
  acceptRandomToken(): void {
    this.randomToken = createToken();
    this.verifier.replace([this.randomToken]);
  }
}

/**
 * Accepts the access tokens and the JWTs of the configured issuer, or a random token if neither is configured.
 * @throws {InvalidConfig} No credential is configured, and other machines can connect.
 */
export async function createTokenVerifier(tokens: AccessTokens, config: Config): Promise<TokenVerifier> {
  const { accessTokens, accessTokensFile, jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = config;
  if (issuer && audience && jwksUrl) {
    // Loaded here, because most services need no JWTs, and start faster without the library.
    const { JwtVerifier } = await import('@plant-store/adapters/jwt');
    const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
    const verify = async (token: string) => {
      const verification = await tokens.verifier.verify(token);
      return verification.kind === 'valid' ? verification : jwts.verify(token);
    };
    return { verify };
  }
  if (accessTokens.length > 0 || accessTokensFile !== undefined) return tokens.verifier;
  if (!isLoopback(config.host))
    throw new InvalidConfig(
      'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token',
    );
  tokens.acceptRandomToken();
  return tokens.verifier;
}
