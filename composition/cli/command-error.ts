/** A failure that is reported in one line, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Runs `work`; throws its failure as a {@link CommandError}. `action` completes "cannot …", as in "open a.ndjson". */
export function translateErrors<T>(action: string, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw toCommandError(action, error);
  });
}

/** Describes a failed system call in one line. `error` is an error with a code, or a code. */
export function toCommandError(action: string, error: unknown): CommandError {
  const code = error instanceof Error && 'code' in error ? `${error.code}` : `${error}`;
  return new CommandError(`cannot ${action}: ${SYSTEM_ERRORS[code] ?? code}`);
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
