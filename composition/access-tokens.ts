import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assertTokens, parseTokens, StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import { type Config, InvalidConfig, isLoopback } from './config.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Accepts the static tokens of the settings, or a random one if no credential is configured. */
export class AccessTokens extends StaticTokenVerifier {
  readonly #config: Config;
  readonly randomToken: string | undefined;

  /** @throws {InvalidConfig} No credential is configured and other machines can connect, or the file is invalid. */
  constructor(config: Config) {
    super(readTokens(config));
    this.#config = config;
    const { accessTokens, accessTokensFile, jwtIssuer, host } = config;
    if (accessTokens.length > 0 || (accessTokensFile ?? jwtIssuer) !== undefined) return;
    if (!isLoopback(host))
      throw new InvalidConfig(
        'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token',
      );
    this.randomToken = createToken();
    this.replace([this.randomToken]);
  }

  /**
   * Reads `ACCESS_TOKENS_FILE` again.
   * @throws {InvalidConfig} The file is invalid. The previous tokens stay accepted.
   */
  reload(): void {
    if (this.#config.accessTokensFile !== undefined) this.replace(readTokens(this.#config));
  }
}

function readTokens({ accessTokens, accessTokensFile }: Config): readonly string[] {
  if (accessTokensFile === undefined) return accessTokens;
  try {
    const tokens = parseTokens(readFileSync(accessTokensFile, 'utf8'));
    if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
    assertTokens(tokens);
    return [...accessTokens, ...tokens];
  } catch (error) {
    throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${error instanceof Error ? error.message : error}`);
  }
}
