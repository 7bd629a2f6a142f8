import { readFileSync, statSync } from 'node:fs';
import { InvalidConfig } from './invalid-config.js';

/** Maximum size of a file. Checking a token takes time in proportion to their number. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Reads a file of tokens, or of a URL. @throws {InvalidConfig} It is not a regular file, too large, or not readable. */
export function readSecretFile(path: string): string {
  try {
    const file = statSync(path);
    // Reading a pipe or a device may block the process.
    if (!file.isFile()) throw new InvalidConfig('the path is not a regular file');
    if (file.size > MAX_FILE_BYTES) throw new InvalidConfig(`the file is larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof InvalidConfig) throw error;
    throw new InvalidConfig(`the file ${describeReadError(error)}`);
  }
}

/** Describes why a file cannot be read. Names the user, because a service manager may have chosen it. */
export function describeReadError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : error;
  return code === 'EACCES'
    ? `cannot be read by user ${process.getuid?.() ?? process.env['USERNAME']} (EACCES)`
    : `cannot be read (${code})`;
}
