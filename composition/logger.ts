import { isatty } from 'node:tty';
import pino, { type DestinationStream, type Logger } from 'pino';
import { PlantStoreError } from '../core/index.js';
import type { Config } from './config.js';

const STANDARD_ERROR = 2;
/** How much is kept of what could not be written; more is dropped. */
const UNWRITTEN_BYTES_MAX = 1024 * 1024;
/** How long a line waits for others that are written with it, in milliseconds. */
const GATHERING_MS = 10;
/** How much is gathered at most; pino drops what is larger than it may keep in one piece. */
const GATHERED_CHARACTERS_MAX = 64 * 1024;
/** How far down the causes of an error are logged. */
const CAUSES_MAX = 5;

/** JSON lines on standard error; readable lines where that is a terminal. */
export async function createLogger({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger> {
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error) },
  };
  if (!isatty(STANDARD_ERROR)) {
    standardError ??= openStandardError();
    return pino(options, standardError);
  }
  const { default: pretty } = await import('pino-pretty');
  // Node by itself lets FORCE_COLOR go before NO_COLOR, and knows which terminals have colours.
  const colorize = !process.env['NO_COLOR'] && process.stderr.hasColors();
  return pino(options, pretty({ destination: STANDARD_ERROR, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }));
}

/** One for the process, however many loggers it has. */
let standardError: DestinationStream | undefined;

/** Writes lines together that come within a moment, which costs less than half of writing each. */
function openStandardError(): DestinationStream {
  const destination = pino.destination({ dest: STANDARD_ERROR, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // A log that cannot be written, on a full disk say, is no reason to fail a request.
  destination.on('error', () => {});
  let lines: string[] = [];
  let characters = 0;
  const write = () => {
    destination.write(lines.join(''));
    lines = [];
    characters = 0;
  };
  process.once('exit', write);
  return {
    write: (line) => {
      if (lines.push(line) === 1) setTimeout(write, GATHERING_MS).unref();
      characters += line.length;
      if (characters > GATHERED_CHARACTERS_MAX) write();
    },
  };
}

/**
 * What is logged of an error: its class, its code and where it happened, and so on down its causes. Its message only
 * where it is one of ours: those of others quote what they were given (JSON.parse the body, Knex the SQL with all values).
 */
export function describeError(error: unknown, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  return {
    type: error.name,
    code: 'code' in error ? error.code : undefined,
    message: error instanceof PlantStoreError ? error.message : undefined,
    stack: framesOf(error),
    cause: error.cause === undefined || causes === CAUSES_MAX ? undefined : describeError(error.cause, causes + 1),
  };
}

/** The lines after the message. Where the stack does not begin with the message as it is now, no line is known to be a frame. */
function framesOf({ message, stack = '' }: Error): string | undefined {
  const start = stack.indexOf(`${message}\n`);
  return start === -1 || stack.slice(0, start).includes('\n') ? undefined : stack.slice(start + message.length + 1);
}
