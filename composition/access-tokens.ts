import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { assertTokens, parseTokens, StaticTokenVerifier } from '../adapters/driven/static-token/index.js';
import { assertFile, type Config, InvalidConfig, isLoopback, toReason } from './config.js';
import { limitTime } from './time-limit.js';

/** Maximum time to read the file, in milliseconds. */
const MAX_READ_MS = 5000;

/** Creates a token of 192 random bits. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Accepts the static tokens of the settings, or a random one if no credential is configured. */
export class AccessTokens extends StaticTokenVerifier {
  readonly #config: Config;
  readonly randomToken: string | undefined;

  /** @throws {InvalidConfig} No credential is configured and other machines can connect. */
  constructor(config: Config, tokens: readonly string[]) {
    super(tokens);
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
  async reload(): Promise<void> {
    if (this.#config.accessTokensFile !== undefined) this.replace(await readTokens(this.#config));
  }
}

/** @throws {InvalidConfig} `ACCESS_TOKENS_FILE` is invalid. */
export async function readTokens({ accessTokens, accessTokensFile }: Config): Promise<readonly string[]> {
  if (accessTokensFile === undefined) return accessTokens;
  // At exit, Node waits for a read, which on a dead mount never ends.
  const kill = () => process.kill(process.pid, 'SIGKILL');
  process.on('exit', kill);
  const reading = stat(accessTokensFile)
    .then(assertFile)
    .then(() => readFile(accessTokensFile, 'utf8'))
    .finally(() => process.off('exit', kill));
  try {
    const tokens = parseTokens(await limitTime(reading, MAX_READ_MS));
    if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
    assertTokens(tokens);
    return [...accessTokens, ...tokens];
  } catch (error) {
    throw new InvalidConfig(`ACCESS_TOKENS_FILE: ${toReason(error)}`);
  }
}
