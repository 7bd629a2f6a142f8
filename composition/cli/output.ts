import { inspect } from 'node:util';
import { isPlantStoreError } from '../../core/index.js';
import { InvalidConfig } from '../invalid-config.js';

/** An exit code of BSD's sysexits.h. */
const EX_CONFIG = 78;

/** A failure that is reported in one line, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Throws a failed system call, an error or its code, as "cannot open a.ndjson: …"; `action` is "open a.ndjson". */
export function failTo(action: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? `${error.code}` : `${error}`;
  throw new CommandError(`cannot ${action}: ${SYSTEM_ERRORS[code] ?? code}`);
}

/** Writes to standard output. Ignores the error if the reader has closed it, as `head` does; throws others. */
export async function print(text: string): Promise<void> {
  // The callback gets the error.
  process.stdout.on('error', () => {});
  const error = await new Promise<unknown>((resolve) => process.stdout.write(text, resolve));
  if (error && Object(error).code !== 'EPIPE') failTo('write to standard output', error);
}

/** Prints the message of a failed command. Resolves to the exit code of the process. */
export async function reportFailure(error: unknown): Promise<number> {
  if (error instanceof InvalidConfig) return fail(EX_CONFIG, error.message);
  if (isPlantStoreError(error) || error instanceof CommandError) return fail(1, error.message);
  // The message of any other error may contain user data.
  const { describeError } = await import('../../adapters/driven/logging/index.js');
  return fail(1, `internal error: ${inspect(describeError(error))}`);
}

/** Prints each line of a message. Returns the exit code. */
export function fail(exitCode: number, message: string): number {
  for (const line of message.split('\n')) process.stderr.write(`plant-store: ${line}\n`);
  return exitCode;
}

/** https://nodejs.org/api/errors.html#common-system-errors */
const SYSTEM_ERRORS: Partial<Record<string, string>> = {
  EACCES: `permission denied for user ${process.getuid?.() ?? process.env['USERNAME']}; change the permissions, or choose another file or a port above 1023`,
  EADDRINUSE: 'the port is in use; stop the other program or choose another port',
  EADDRNOTAVAIL: 'no network interface has this address',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EINVAL: 'invalid address',
  EISDIR: 'it is a directory; name a file in it',
  ENOENT: 'no such file or directory; check the path',
  ENOSPC: 'the disk is full; free some space',
  ENOTFOUND: 'unknown host name',
};
