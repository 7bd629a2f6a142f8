import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assertTokens, parseTokens, StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import type { Principal, TokenVerifier } from '../core/index.js';
import { type Config, InvalidConfig, isLoopback } from './config.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The credentials of the settings: static tokens, or a random one if there is nothing else, and the JWTs of an issuer. */
export class AccessTokens implements TokenVerifier {
  readonly #config: Config;
  readonly #staticTokens: StaticTokenVerifier;
  readonly #jwts: TokenVerifier | undefined;
  /** Accepted because no credential is configured. */
  readonly randomToken: string | undefined;

  /** @throws {InvalidConfig} No credential is configured, and `HOST` is not a loopback address, or a token is invalid. */
  constructor(config: Config, jwts?: TokenVerifier) {
    const { accessTokens, accessTokensFile, host } = config;
    this.#config = config;
    this.#jwts = jwts;
    if (accessTokens.length === 0 && accessTokensFile === undefined && jwts === undefined) {
      if (!isLoopback(host))
        throw new InvalidConfig(
          `ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token`,
        );
      this.randomToken = createToken();
    }
    this.#staticTokens = new StaticTokenVerifier(this.#readTokens());
  }

  async verify(token: string): Promise<Principal | undefined> {
    return (await this.#staticTokens.verify(token)) ?? this.#jwts?.verify(token);
  }

  /** Reads `ACCESS_TOKENS_FILE` again. @throws {InvalidConfig} It is invalid; the previous tokens stay accepted. */
  reload(): void {
    this.#staticTokens.replace(this.#readTokens());
  }

  #readTokens(): readonly string[] {
    const { accessTokens, accessTokensFile: path } = this.#config;
    const configured = this.randomToken === undefined ? accessTokens : [this.randomToken];
    if (path === undefined) return configured;
    try {
      const tokens = parseTokens(readFileSync(path, 'utf8'));
      if (tokens.length === 0) throw new InvalidConfig('it contains no token');
      assertTokens(tokens);
      return [...configured, ...tokens];
    } catch (error) {
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${error instanceof Error ? error.message : error}`);
    }
  }
}
