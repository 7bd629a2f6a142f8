/** A failure that is told in one line, without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** A file that failed, in one line; `what` is "open plants.ndjson", say. */
export function fileFailure(what: string, error: unknown): CommandFailure {
  const code = error instanceof Error && 'code' in error ? `${error.code}` : `${error}`;
  return new CommandFailure(`cannot ${what}: ${FILE_REASONS[code] ?? code}`);
}

/** https://nodejs.org/api/errors.html#common-system-errors */
const FILE_REASONS: Partial<Record<string, string>> = {
  EACCES: 'this user may not; change the rights, or choose another file',
  EISDIR: 'it is a folder; name a file in it',
  ENOENT: 'there is no such file or folder; look at its path',
  ENOSPC: 'the disk is full; make room',
};
