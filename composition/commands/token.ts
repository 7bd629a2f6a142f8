import { createHash, randomBytes } from 'node:crypto';

/** How much chance is in a token, in bytes: nobody guesses 192 bits. */
const TOKEN_BYTES = 24;

/** A new token, and the digest that stands for it in a configuration. */
export function newToken(): { readonly token: string; readonly digest: string } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, digest: `sha256:${createHash('sha256').update(token).digest('hex')}` };
}

/** Prints a new token. Resolves to the exit code of the process. */
export async function printToken(json: boolean): Promise<number> {
  const { token, digest } = newToken();
  process.stdout.write(
    json
      ? `${JSON.stringify({ token, digest })}\n`
      : `${token}\n  for the client; it is shown this once\n${digest}\n  for ACCESS_TOKENS or ACCESS_TOKENS_FILE\n`,
  );
  return 0;
}
