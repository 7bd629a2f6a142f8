import type { Logger } from 'pino';
import type { Config } from './config.js';
import { InvalidConfig } from './invalid-config.js';
import { isLoopback } from './urls.js';

/** Shorter tokens may be guessed. */
const MIN_TOKEN_LENGTH = 16;

/** Returns the static tokens, and warns of those that are too short, by their position in the setting. */
export function readTokens({ accessTokens = [], accessTokensFile }: Config, log: Logger): readonly string[] {
  const settings = { ACCESS_TOKENS: accessTokens, ACCESS_TOKENS_FILE: accessTokensFile?.tokens ?? [] };
  for (const [setting, tokens] of Object.entries(settings)) {
    const positions = tokens.flatMap((token, index) => (token.length < MIN_TOKEN_LENGTH ? [index + 1] : []));
    if (positions.length === 0) continue;
    const problem = `${setting} has tokens of fewer than ${MIN_TOKEN_LENGTH} characters, which may be guessed`;
    log.warn({ positions }, `${problem}; replace them with output of plant-store token`);
  }
  return Object.values(settings).flat();
}

/**
 * Returns whether clients can authenticate.
 * @throws {InvalidConfig} They cannot, and other machines may reach the service.
 */
export function isCredentialConfigured({ accessTokens, accessTokensFile, jwtIssuer, host }: Config): boolean {
  if ((accessTokens ?? accessTokensFile ?? jwtIssuer) !== undefined) return true;
  if (isLoopback(host)) return false;
  throw new InvalidConfig(
    `ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set: HOST=${JSON.stringify(host)} is not a loopback address; create a token with plant-store token (docker run --rm plant-store token)`,
  );
}
