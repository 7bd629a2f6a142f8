import { createHash } from 'node:crypto';
import type { Config } from '../config.js';
import { isClientName } from '../token-entries.js';
import { createToken } from '../tokens.js';
import { print, UsageError } from './output.js';

/** Prints a new token, and its entry in the settings. */
export async function run(_: Config, { argument: name }: { argument: string | undefined }): Promise<number> {
  if (name !== undefined && !isClientName(name)) throw new UsageError('NAME must consist of A-Z a-z 0-9 . _ @ -');
  const token = createToken();
  const digest = `sha256:${createHash('sha256').update(token).digest('hex')}`;
  await print(`${token}\n  for the client; not shown again\n`);
  await print(`${name === undefined ? digest : `${name}=${digest}`}\n  for ACCESS_TOKENS or ACCESS_TOKENS_FILE\n`);
  return 0;
}
