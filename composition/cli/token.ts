import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../config.js';
import type { Flags } from './commands.js';
import { print } from './output.js';

/** Length of a token before encoding: 192 bits cannot be guessed. */
const TOKEN_BYTES = 24;

/** Creates a random token and its digest. */
export function createToken(): { readonly token: string; readonly digest: string } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, digest: `sha256:${createHash('sha256').update(token).digest('hex')}` };
}

/** Prints a new token and its digest. Resolves to the exit code of the process. */
export async function run(_: Config, { json }: Flags): Promise<number> {
  const { token, digest } = createToken();
  const text = `${token}\n  for the client; not shown again\n${digest}\n  for ACCESS_TOKENS or ACCESS_TOKENS_FILE\n`;
  await print(json ? `${JSON.stringify({ token, digest })}\n` : text);
  return 0;
}
