import { fstatSync } from 'node:fs';
import pino, { type Logger } from 'pino';
import { isStorageUnavailable, isTokenIssuerUnavailable } from '../core/index.js';
import type { Config } from './config.js';
import { isInTime } from './time-limit.js';

/** Maximum size of the lines that wait for standard error; further lines are dropped. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Size of the lines that are written together, and the time after which fewer are, in milliseconds. */
const [MIN_WRITE_BYTES, MAX_DELAY_MS] = [4096, 100];
/** Maximum time at exit for the last lines to be written. */
const MAX_FLUSH_MS = 1000;

/** What journald takes for the priority of a line, by pino's levels (sd-daemon(3)). */
const PRIORITIES: Readonly<Record<number, number>> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 };

/** Receives the lines of the log. */
export interface LogDestination {
  write(line: string): void;
  /** Calls `done` when the lines are written. @default `write` writes them */
  flush?(done: () => void): void;
  /** Calls `listener` for each line that is dropped. @default none is */
  on?(event: 'drop', listener: () => void): unknown;
}

/**
 * Opens standard error for the log. Formats the lines if it is a terminal, and prefixes them with a priority if it is the
 * systemd journal. Writing never blocks, throws or ends the process; lines that cannot be written are dropped.
 */
export async function openStandardError(): Promise<LogDestination> {
  // Node makes a pipe non-blocking when it creates this stream.
  const { fd, isTTY } = process.stderr;
  const limits = { maxLength: MAX_PENDING_BYTES, minLength: MIN_WRITE_BYTES, periodicFlush: MAX_DELAY_MS };
  const destination = pino.destination({ fd, sync: false, ...limits });
  // A failed write is repeated later.
  destination.on('error', () => {});
  // pino calls it after a fatal line and at exit, and on a full disk it would never return.
  destination.flushSync = () => {};
  const others = {
    flush: (done: () => void) => destination.flush(done),
    on: (event: 'drop', listener: () => void) => destination.on(event, listener),
  };
  if (isTTY) {
    const { prettyFactory } = await import('pino-pretty');
    const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l' });
    return { write: (line) => destination.write(format(line)), ...others };
  }
  if (!isJournal(fd)) return destination;
  const journal = {
    // Lets pino set `lastLevel`.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 30,
    write: (line: string) => destination.write(`<${PRIORITIES[journal.lastLevel]}>${line}`),
    ...others,
  };
  return journal;
}

/** Returns whether systemd has connected a file descriptor to the journal (systemd.exec(5), `$JOURNAL_STREAM`). */
function isJournal(fd: number): boolean {
  // As numbers, they would remain in a buffer in which Node 20 looks before it follows symbolic links to modules.
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return process.env['JOURNAL_STREAM'] === `${dev}:${ino}`;
}

/** Creates a logger that writes JSON lines without user data. */
export function createLogger(destination: LogDestination, { logLevel: level }: Pick<Config, 'logLevel'>): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp, formatters, serializers: { err: describeError } }, destination);
}

/** Waits until the log is written, or cannot be. Tracers may wrap the logger, so that it no longer flushes. */
export async function flush(destination: LogDestination): Promise<void> {
  const flushed = () => new Promise<void>((resolve) => (destination.flush ? destination.flush(resolve) : resolve()));
  // The first may end with a write in progress, which does not have the last lines.
  await isInTime(flushed().then(flushed), MAX_FLUSH_MS);
}

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
