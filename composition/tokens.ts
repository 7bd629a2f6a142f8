import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { assertTokens, parseTokens, StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import type { TokenVerifier } from '../core/index.js';
import { assertFile, type Config, InvalidConfig, isLoopback, withoutPath } from './config.js';
import type { Reloadable } from './token-reload.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The static tokens of the settings, and the verifier that accepts them. */
export class AccessTokens implements Reloadable {
  readonly verifier: StaticTokenVerifier;
  readonly #config: Config;
  #randomToken: string | undefined;

  private constructor(config: Config) {
    this.#config = config;
    this.verifier = new StaticTokenVerifier(config.accessTokens);
  }

  /** The only accepted token, if no credential is configured. */
  get randomToken(): string | undefined {
    return this.#randomToken;
  }

  /** Accepts a new random token alone. */
  acceptRandomToken(): void {
    this.#randomToken = createToken();
    this.verifier.replace([this.#randomToken]);
  }

  /** Reads the tokens of the settings. @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
  static async read(config: Config): Promise<AccessTokens> {
    const tokens = new AccessTokens(config);
    await tokens.reload();
    return tokens;
  }

  /** Reads the file again. @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. The previous tokens stay accepted. */
  async reload(): Promise<void> {
    const { accessTokens, accessTokensFile: path } = this.#config;
    if (path === undefined) return;
    try {
      assertFile(await stat(path));
      const tokens = parseTokens(await readFile(path, 'utf8'));
      if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
      assertTokens(tokens);
      this.verifier.replace([...accessTokens, ...tokens]);
    } catch (error) {
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${withoutPath(error)}`);
    }
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
    const { JwtVerifier } = await import('../adapters/driven/jwt/index.js');
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
