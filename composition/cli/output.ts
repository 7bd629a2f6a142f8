import { inspect } from 'node:util';
import { isStorageUnavailable } from '../../core/index.js';
import { InvalidConfig } from '../config.js';

/** The command line is invalid. */
export class UsageError extends Error {}

/** Writes to standard output. Ignores that its reader has closed it, as `head` does; rejects after other errors. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error && Object(error).code !== 'EPIPE' ? reject(error) : resolve()));
  });
}

/** Prints the message of a failed command. Resolves to the exit code of the process. */
export async function reportFailure(error: unknown): Promise<number> {
  // EX_CONFIG and EX_USAGE of BSD's sysexits.h.
  if (error instanceof InvalidConfig) return fail(78, error.message);
  if (error instanceof UsageError) return fail(64, error.message);
  if (isStorageUnavailable(error) || (error instanceof Error && 'syscall' in error)) return fail(1, error.message);
  // The message of any other error may contain user data.
  const { describeError } = await import('../logger.js');
  return fail(1, `internal error: ${inspect(describeError(error))}`);
}

function fail(exitCode: number, message: string): number {
  for (const line of message.split('\n')) process.stderr.write(`plant-store: ${line}\n`);
  return exitCode;
}
