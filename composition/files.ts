import { readFileSync, statSync } from 'node:fs';

/** Maximum size of a file that a setting names. */
const MAX_BYTES = 1024 ** 2;

/** Settings, or what they name, are invalid. The message has one line per problem, without secrets. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

/** Reads a file that a setting names, but not, for example, a FIFO, because it may never end. */
export function readText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new InvalidConfig('must be a regular file of at most 1 MiB');
  return clean(readFileSync(path, 'utf8'));
}

/** Removes white space around a value, such as the line feed of a secret that `echo` has written. */
export function clean(text: string): string {
  const value = text.trim();
  if (/^(["']).*\1$/s.test(value)) throw new InvalidConfig('must not be in quotes, which docker --env-file keeps');
  return value;
}
