import { randomBytes } from 'node:crypto';
import { parseTokens, StaticTokenVerifier } from '@plant-store/adapters/static-token';
import type { TokenVerifier } from '@plant-store/core';
import { type Config, InvalidConfig, isLoopback, readText, toReason } from './config.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Accepts the static tokens of the settings. */
export class AccessTokens extends StaticTokenVerifier {
  /** The only accepted token, if no credential is configured. */
  randomToken: string | undefined;
  readonly #config: Config;

  /** @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
  constructor(config: Config) {
    super(config.accessTokens);
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
      this.replace([...tokens, ...accessTokens]);
    } catch (error) {
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${toReason(error)}`);
    }
  }
}

/**
 * Creates what accepts the access tokens and the JWTs of the configured issuer. If neither is configured, makes `tokens`
 * accept a random token.
 * @throws {InvalidConfig} No credential is configured, and other machines can connect.
 */
export async function createTokenVerifier(tokens: AccessTokens, config: Config): Promise<TokenVerifier> {
  const { accessTokens, accessTokensFile, jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = config;
  if (issuer && audience && jwksUrl) {
    const { JwtVerifier } = await import('@plant-store/adapters/jwt');
    const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
    const verify = async (token: string) => {
      const verification = await tokens.verify(token);
      return verification.kind === 'valid' ? verification : jwts.verify(token);
    };
    return { verify };
  }
  if (accessTokens.length === 0 && accessTokensFile === undefined) {
    if (!isLoopback(config.host))
      throw new InvalidConfig(
        'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token',
      );
    tokens.randomToken = createToken();
    tokens.replace([tokens.randomToken]);
  }
  return tokens;
}
