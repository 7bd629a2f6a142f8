import { randomBytes } from 'node:crypto';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import type { TokenVerifier } from '@plant-store/core';
import type { Config } from './config.js';
import { toReason } from './describe-error.js';
import { InvalidConfig, readText } from './files.js';
import { isLoopback } from './settings.js';
import { parseEntries } from './token-entries.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Accepts the static tokens of the settings. */
export class AccessTokens extends StaticTokenVerifier {
  /** The only accepted token, if no credential is configured and only this machine can connect. */
  readonly randomToken: string | undefined;
  /** Number of failed reloads. */
  failedReloads = 0;
  readonly #config: Config;

  /** @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
  constructor(config: Config) {
    const randomToken = hasCredential(config) || !isLoopback(config.host) ? undefined : createToken();
    super(randomToken === undefined ? config.accessTokens : parseEntries([randomToken]));
    this.randomToken = randomToken;
    this.#config = config;
    this.reload();
  }

  /** Reads the file again. @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. The previous tokens stay accepted. */
  reload(): void {
    const { accessTokens, accessTokensFile: path } = this.#config;
    if (path === undefined) return;
    try {
      const lines = readText(path).split('\n');
      const entries = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
      const tokens = parseEntries(entries);
      if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
      this.replace([...tokens, ...accessTokens]);
    } catch (error) {
      this.failedReloads++;
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${toReason(error)}`);
    }
  }
}

function hasCredential({ accessTokens, accessTokensFile, jwtIssuer }: Config): boolean {
  return accessTokens.length > 0 || accessTokensFile !== undefined || jwtIssuer !== undefined;
}

/**
 * Creates what accepts the access tokens and the JWTs of the configured issuer.
 * @throws {InvalidConfig} No credential is configured, and other machines can connect.
 */
export async function createTokenVerifier(tokens: AccessTokens, config: Config): Promise<TokenVerifier> {
  const { jwtIssuer: issuer, jwtAudience: audience, jwtJwksUrl: jwksUrl } = config;
  if (issuer && audience && jwksUrl) {
    const { JwtVerifier } = await import('@plant-store/adapters/jwt');
    const jwts = new JwtVerifier({ issuer, audience, jwksUrl });
    const verify = async (token: string) => {
      const verification = await tokens.verify(token);
      return verification.kind === 'valid' ? verification : jwts.verify(token);
    };
    return { verify };
  }
  if (tokens.randomToken === undefined && !hasCredential(config))
    throw new InvalidConfig(
      'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token',
    );
  return tokens;
}
