import { inspect } from 'node:util';
import { isStorageUnavailable, isTokenIssuerUnavailable } from '@plant-store/core';

const isExpected = (error: unknown) => isStorageUnavailable(error) || isTokenIssuerUnavailable(error);

/**
 * Describes an error for the log: class, code, location and causes, and its message unless that may contain user data.
 * Parsers and drivers quote values, and their errors have a class or members of their own.
 */
export function describeError(error: unknown, withStack = !isExpected(error)): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name: type, message, stack = '', cause, code, syscall }: NodeJS.ErrnoException = error;
  // Inversify's errors have a kind.
  const isPlain =
    ['Error', 'TypeError', 'RangeError'].includes(type) && Object.keys(error).every((key) => key === 'kind');
  // Node's message about a failed system call contains at most a path or an address.
  const isSystemMessage =
    syscall && code && (message.startsWith(`${syscall} ${code}`) || message.startsWith(`${code}: `));
  const start = stack.indexOf(message);
  return {
    type,
    code,
    message: isExpected(error) || isPlain || isSystemMessage ? message : undefined,
    stack: withStack && start !== -1 ? stack.slice(start + message.length).trim() : undefined,
    cause: cause instanceof Error ? describeError(cause, withStack) : undefined,
  };
}

/** Returns the message of an error for people, with the uid that lacks a permission. */
export function toReason(error: unknown): string {
  const { message, code, cause, path, syscall } = Object(error);
  if (syscall === 'uv_cwd') return 'the working directory no longer exists';
  const user = [code, Object(cause).code].includes('EACCES') ? ` for uid ${process.getuid?.()}` : '';
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? inspect(error));
  // A URL in place of a path may contain a password.
  return (typeof path === 'string' && path.includes('://') ? text.replace(path, '…') : text) + user;
}
