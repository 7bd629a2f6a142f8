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
