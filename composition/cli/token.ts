import { createHash } from 'node:crypto';
import { createToken } from '../tokens.js';
import { print } from './output.js';

/** Prints a new token and its digest. */
export async function run(): Promise<number> {
  const token = createToken();
  const digest = createHash('sha256').update(token).digest('hex');
  await print(`${token}\n  for the client; not shown again\n`);
  await print(`sha256:${digest}\n  for ACCESS_TOKENS or ACCESS_TOKENS_FILE\n`);
  return 0;
}
