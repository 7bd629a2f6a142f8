import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { assertTokens, parseTokens, StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import { assertFile, type Config, InvalidConfig, isLoopback, withoutPath } from './config.js';
import { limitTime } from './time-limit.js';

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Accepts the static tokens of the settings, or a random one if no credential is configured.
 * @throws {InvalidConfig} No credential is configured and other machines can connect, or the file is invalid.
 */
export async function createAccessTokens(config: Config) {
  const { accessTokens, accessTokensFile, jwtIssuer, host } = config;
  const isConfigured = accessTokens.length > 0 || (accessTokensFile ?? jwtIssuer) !== undefined;
  if (!isConfigured && !isLoopback(host))
    throw new InvalidConfig(
      'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set, because HOST is not a loopback address; create a token with plant-store token',
    );
  const randomToken = isConfigured ? undefined : createToken();
  let verifier = new StaticTokenVerifier(randomToken ? [randomToken] : await readTokens(config));
  const verify = (token: string) => verifier.verify(token);
  /** Reads `ACCESS_TOKENS_FILE` again. If it is invalid, throws, and the previous tokens stay accepted. */
  const reload = async () => {
    if (accessTokensFile !== undefined) verifier = new StaticTokenVerifier(await readTokens(config));
  };
  return { randomToken, verify, reload };
}

/** @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
async function readTokens({ accessTokens, accessTokensFile }: Config): Promise<readonly string[]> {
  if (accessTokensFile === undefined) return accessTokens;
  // At exit, Node waits for a read, which on a dead mount never ends. The exit code is then that of SIGKILL.
  const kill = () => process.kill(process.pid, 'SIGKILL');
  process.on('exit', kill);
  const reading = stat(accessTokensFile)
    .then(assertFile)
    .then(() => readFile(accessTokensFile, 'utf8'))
    .finally(() => process.off('exit', kill));
  try {
    const tokens = parseTokens(await limitTime(reading));
    if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
    assertTokens(tokens);
    return [...accessTokens, ...tokens];
  } catch (error) {
    throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${withoutPath(error)}`);
  }
}
