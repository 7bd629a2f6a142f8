import { isStorageUnavailable, isTokenIssuerUnavailable } from '@plant-store/core';

/**
 * Describes an error for the log: class, code, location, causes, and a message that cannot contain user data. The stack
 * of an expected failure, such as an unavailable storage, tells nothing new.
 */
export function describeError(error: unknown, withStack = !isExpected(error)): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack = '', cause } = error;
  const start = stack.indexOf(message);
  return {
    type: name,
    code: 'code' in error ? error.code : undefined,
    message: isMessageSafe(error) ? message : undefined,
    stack: withStack && start !== -1 ? stack.slice(start + message.length).trim() : undefined,
    cause: cause instanceof Error ? describeError(cause, withStack) : undefined,
  };
}

function isExpected(error: unknown): boolean {
  return isStorageUnavailable(error) || isTokenIssuerUnavailable(error);
}

/**
 * Parsers and drivers quote values: JSON.parse the body, Knex the SQL. Their errors have a class or members of their own.
 * So have those of failed system calls, whose messages are Node's, with a path or an address.
 */
function isMessageSafe(error: Error): boolean {
  if (isExpected(error)) return true;
  if ('syscall' in error && 'code' in error)
    return error.message.startsWith(`${error.syscall} ${error.code}`) || error.message.startsWith(`${error.code}: `);
  return ['Error', 'TypeError', 'RangeError'].includes(error.name) && Object.keys(error).length === 0;
}
