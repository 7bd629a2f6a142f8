import { EventEmitter } from 'node:events';
import pino, { type Logger } from 'pino';
import type { Config } from './config.js';
import { describeError } from './describe-error.js';
import { addPriority, isJournal } from './journal.js';
import { limitTime } from './time-limit.js';

/** Maximum size of the lines that wait for standard error; further lines are dropped. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Maximum time at exit for the last lines to be written. */
const MAX_FLUSH_MS = 1000;

/** Receives log lines. */
export interface LogDestination {
  write(line: string): void;
  /** Calls `done` when the lines are written. @default lines are written when `write` returns */
  flush?(done: () => void): void;
  /** Calls `listener` for each line that is dropped. @default no line is dropped */
  on?(event: 'drop', listener: () => void): unknown;
}

/** Opens standard error for the log. Writing never blocks, throws or ends the process; lines may be dropped instead. */
export async function openStandardError(): Promise<LogDestination> {
  // Node makes a pipe non-blocking when it creates the stream `process.stderr`.
  const { stderr } = process;
  // A worker thread has no descriptor, and PM2 replaces `write`.
  if (typeof stderr.fd !== 'number' || Object.hasOwn(stderr, 'write')) return toDestination(stderr);
  const batches = { minLength: 4096, periodicFlush: 100 };
  const destination = pino.destination({ fd: stderr.fd, sync: false, maxLength: MAX_PENDING_BYTES, ...batches });
  // A failed write is repeated later.
  destination.on('error', () => {});
  // pino calls it at exit, and on a full disk it would never return.
  destination.flushSync = () => {};
  const pretty = stderr.isTTY ? await import('pino-pretty') : undefined;
  const format = pretty?.prettyFactory({ translateTime: 'SYS:HH:MM:ss.l' }) ?? (isJournal() ? addPriority : undefined);
  if (format === undefined) return destination;
  return {
    write: (line) => destination.write(format(line)),
    flush: (done) => destination.flush(done),
    on: (event, listener) => destination.on(event, listener),
  };
}

function toDestination(stream: NodeJS.WriteStream): LogDestination {
  const drops = new EventEmitter();
  let written = Promise.resolve();
  if (stream.listenerCount?.('error') === 0) stream.on('error', () => {});
  return {
    write(line) {
      if (stream.writableLength > MAX_PENDING_BYTES) drops.emit('drop');
      else written = new Promise<void>((resolve) => stream.write(line, () => resolve())).catch(() => {});
    },
    flush: (done) => void written.then(done),
    on: (event, listener) => drops.on(event, listener),
  };
}

/** Creates a logger that writes JSON lines without user data. */
export function createLogger(destination: LogDestination, { logLevel: level }: Config): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp, formatters, serializers: { err: describeError } }, destination);
}

/** Waits until the log is written, or cannot be. Tracers may wrap the logger, so that it no longer flushes. */
export async function flush(destination: LogDestination): Promise<void> {
  const flushed = () => new Promise<void>((resolve) => (destination.flush ? destination.flush(resolve) : resolve()));
  // The first may end with a write in progress, which does not have the last lines.
  await limitTime(flushed().then(flushed), MAX_FLUSH_MS, 'the log is not written').catch(() => {});
}
