import { inspect } from 'node:util';
import { isStorageUnavailable } from '@plant-store/core';
import { describeError, toReason } from '../describe-error.js';
import { InvalidConfig } from '../files.js';
import { addPriority, isJournal } from '../journal.js';

/** The command line is invalid. */
export class UsageError extends Error {}

/** Returns whether a write failed because the reader has closed the pipe, as `head` does. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/** Writes to standard output. Ignores that its reader has closed it; rejects after other errors. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error && !isBrokenPipe(error) ? reject(error) : resolve()));
  });
}

/** Prints the message of a failed command. Returns the exit code of the process. */
export function reportFailure(error: unknown): number {
  // EX_CONFIG and EX_USAGE of BSD's sysexits.h.
  if (error instanceof InvalidConfig) return fail(78, error.message);
  if (error instanceof UsageError) return fail(64, error.message);
  if (isStorageUnavailable(error) || (error instanceof Error && 'syscall' in error)) return fail(1, toReason(error));
  // The message of any other error may contain user data.
  return fail(1, `internal error: ${inspect(describeError(error))}`);
}

/** Writes a message to standard error, in the journal as fatal. Returns the exit code. */
export function fail(exitCode: number, message: string): number {
  for (const text of message.split('\n')) {
    const line = `plant-store: ${text}\n`;
    process.stderr.write(isJournal() ? addPriority(line, 'fatal') : line);
  }
  return exitCode;
}
