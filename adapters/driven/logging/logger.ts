import { constants, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import pino, { type LevelWithSilent, type Logger } from 'pino';
import { isPlantStoreError } from '../../../core/index.js';

const STANDARD_ERROR = 2;
/** Maximum size of the buffer while standard error cannot be written to; further lines are dropped and counted. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Linux's PIPE_BUF. Writes up to this size are atomic, so a full pipe can cut only a longer line. */
const MAX_WRITE_BYTES = 4096;
/** Lines are collected up to this size: one write per line costs more than twice as much. */
const MIN_WRITE_BYTES = 2048;
/** Maximum delay of a line, and interval of retries after a failed write. */
const FLUSH_INTERVAL_MS = 100;
/** Maximum time at exit for a slow reader of standard error to take the last lines. */
const MAX_EXIT_MS = 1000;
const EXIT_RETRY_MS = 10;
/** Maximum number of causes logged for an error. */
const MAX_CAUSES = 5;

/** Writes to standard error; shared by all loggers of the process. */
let standardError: ((line: string) => void) | undefined;

/** The number of lines dropped because standard error could not be written to. */
export const logStatistics = { droppedLines: 0 };

/** Creates a logger that writes JSON lines to standard error, or formatted lines if that is a terminal. */
export async function createLogger(level: LevelWithSilent): Promise<Logger> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      // The stack of an expected failure, such as an unavailable storage, tells nothing new.
      err: (error: unknown) => describeError(error, !isPlantStoreError(error) || log.isLevelEnabled('debug')),
    },
  };
  const isTerminal = isatty(STANDARD_ERROR);
  standardError ??= openStandardError(isTerminal);
  const write = standardError;
  const prettify = isTerminal ? await createPrettifier() : (line: string) => line;
  const log: Logger = pino(options, { write: (line: string) => write(prettify(line)) });
  return log;
}

async function createPrettifier(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  // `hasColors` prefers FORCE_COLOR to NO_COLOR.
  const colorize = !process.env['NO_COLOR'] && process.stderr.hasColors();
  return prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l' });
}

/** Opens standard error so that writes neither block nor throw; see docs/decisions/0022-logging-never-blocks.md. */
function openStandardError(isTerminal: boolean): (line: string) => void {
  const destination = pino.destination({
    // Node makes a pipe non-blocking when it creates the stream.
    dest: isTerminal ? openTerminal() : process.stderr.fd,
    sync: true,
    minLength: MIN_WRITE_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    retryEAGAIN: () => false,
  });
  let errorCode: string | undefined;
  // Keeps failed lines for a retry. pino's own listener drops all lines after the first EPIPE, uncounted.
  destination.removeAllListeners('error').on('error', ({ code }) => {
    errorCode = code;
  });
  destination.on('drop', () => logStatistics.droppedLines++);
  process.once('exit', () => {
    const deadline = performance.now() + MAX_EXIT_MS;
    // A successful flush leaves less than MIN_WRITE_BYTES, in at most two parts.
    for (let flushes = 0; flushes < 3; ) {
      errorCode = undefined;
      destination.flush();
      if (errorCode === undefined) flushes++;
      else if (errorCode !== 'EAGAIN' || performance.now() >= deadline) break;
      // Blocks the thread, because the process exits after this listener.
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_MS);
    }
    destination.end();
  });
  // Hides `flushSync`, which pino calls after a fatal line and which retries forever on a full disk.
  return (line) => destination.write(line);
}

/** Reopens the terminal as non-blocking: writing to Node's descriptor would block while output is stopped (Ctrl-S). */
function openTerminal(): number {
  try {
    return openSync('/dev/stderr', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return STANDARD_ERROR;
  }
}

/** Describes an error for the log: class, code, stack frames, causes and, if it cannot contain user data, message. */
export function describeError(error: unknown, withStack = true, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const hasCause = error.cause !== undefined && causes < MAX_CAUSES;
  return {
    type: error.name,
    code: 'code' in error ? error.code : undefined,
    message: isMessageSafe(error) ? error.message : undefined,
    stack: withStack ? stackFrames(error) : undefined,
    cause: hasCause ? describeError(error.cause, withStack, causes + 1) : undefined,
  };
}

/**
 * Parsers and drivers quote values in messages: JSON.parse the body, Knex the SQL. Their errors have a class or members of
 * their own. So do those of failed system calls, whose messages have only a path or an address, unless Knex has added SQL.
 */
function isMessageSafe(error: Error): boolean {
  if (isPlantStoreError(error)) return true;
  if ('syscall' in error && 'code' in error)
    return [`${error.syscall} `, `${error.code}: `].some((start) => error.message.startsWith(start));
  return ['Error', 'TypeError', 'RangeError'].includes(error.name) && Object.keys(error).length === 0;
}

/** Returns the stack without the message, or `undefined` if the stack does not start with the current message. */
function stackFrames({ message, stack = '' }: Error): string | undefined {
  const start = stack.indexOf(`${message}\n`);
  return start === -1 || stack.slice(0, start).includes('\n') ? undefined : stack.slice(start + message.length + 1);
}
