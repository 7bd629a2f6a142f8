import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
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
  let pendingRead: Promise<string> | undefined;
  const readTokens = async () => {
    if (accessTokensFile === undefined) return accessTokens;
    try {
      // A read that hangs is shared, because each blocks a thread of Node.
      pendingRead ??= readFile(accessTokensFile).finally(() => (pendingRead = undefined));
      const tokens = parseTokens(await limitTime(pendingRead));
      if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
      assertTokens(tokens);
      return [...accessTokens, ...tokens];
    } catch (error) {
      throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${withoutPath(error)}`);
    }
  };
  let verifier = new StaticTokenVerifier(randomToken ? [randomToken] : await readTokens());
  const verify = (token: string) => verifier.verify(token);
  /** Reads `ACCESS_TOKENS_FILE` again. If it is invalid, throws, and the previous tokens stay accepted. */
  const reload = async () => {
    if (accessTokensFile !== undefined) verifier = new StaticTokenVerifier(await readTokens());
  };
  return { randomToken, verify, reload };
}

/** Reads a regular file. */
async function readFile(path: string): Promise<string> {
  // At exit, Node would wait for a read that hangs, as on a dead mount. The exit code is then that of SIGKILL.
  const kill = () => process.kill(process.pid, 'SIGKILL');
  process.on('exit', kill);
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    assertFile(await file.stat());
    return await file.readFile('utf8');
  } finally {
    await file?.close();
    process.off('exit', kill);
  }
}
