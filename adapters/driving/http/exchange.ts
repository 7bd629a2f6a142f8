import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Principal } from '../../../core/index.js';
import { apiErrors } from '../api/index.js';
import { ApiException, sendError, sendErrorTo, toApiException } from './api-exception.js';

/** Maximum number of headers of a request. */
export const MAX_HEADERS = 100;

/** Maximum length of a logged path. */
const MAX_LOGGED_PATH_LENGTH = 256;

/** Time for a client to read a last response, because what it still sends would reset a closed connection. */
const LINGER_MS = 1000;

/** Receives log lines. A pino logger implements it. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A finished request. */
export interface RequestSummary {
  readonly method?: string | undefined;
  /** The path of the operation, if any. */
  readonly route?: string | undefined;
  /** The status of the response; absent if the client disconnected before its request was complete. */
  readonly status?: number | undefined;
  /** The error number, if the request was rejected. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Observers of requests. */
export interface RequestLog {
  /** @default none */
  readonly log?: Log | undefined;
  /** Whether to log a line per request. @default true */
  readonly accessLog?: boolean | undefined;
  /** Called at the end of each request, for metrics. */
  readonly onRequestEnd?: ((request: RequestSummary) => void) | undefined;
}

/** A request, its response, and what the operation reports about it. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  principal?: Principal;
  /** Why the token is invalid. */
  reason?: string | undefined;
  route?: string;
}

/**
 * Handles a request: sets `X-Request-Id`, checks the head, sends the error that `handle` throws, and reports the end to
 * the log. `handle` sends the response of a success.
 */
export async function handleRequest(
  req: IncomingMessage,
  res: ServerResponse,
  { log, accessLog = true, onRequestEnd }: RequestLog,
  handle: (exchange: Exchange) => unknown,
): Promise<void> {
  const start = performance.now();
  const { method, url = '', headers } = req;
  // Of repeated headers, the first counts; Node joins them.
  const [requestId = randomUUID()] = /^[\w.:-]{1,128}(?=, |$)/.exec(`${headers['x-request-id'] ?? ''}`) ?? [];
  const exchange: Exchange = { req, res };
  let exception: ApiException | undefined;
  let aborted: true | undefined;
  res.setHeader('X-Request-Id', requestId);
  try {
    if (req.rawHeaders.length > 2 * MAX_HEADERS) throw new ApiException(apiErrors.headersTooLarge);
    // Frameworks would accept other forms of a target, and ignore a fragment.
    if (!/^\/[^#]*$/.test(url)) throw new ApiException(apiErrors.noSuchPath);
    await handle(exchange);
  } catch (error) {
    // Why the body did not arrive: rejectConnection, or a client that disconnected.
    const reason = req.errored ?? error;
    if (reason === req.errored && !(reason instanceof ApiException)) aborted = true;
    else exception = toApiException(reason);
  }
  if (exception) sendError(res, exception);

  const status = aborted ? undefined : res.statusCode;
  const error = exception?.apiError.error;
  const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
  if (exception?.cause !== undefined) log?.error({ requestId, error, err: exception.cause }, 'request failed');
  if (log && accessLog) {
    const path = escapeControls(/^\/[^?#]*/.exec(url)?.[0].slice(0, MAX_LOGGED_PATH_LENGTH));
    const subject = escapeControls(exchange.principal?.subject);
    const { reason } = exchange;
    log.info({ requestId, method, path, subject, status, error, reason, aborted, durationMs }, 'request');
  }
  onRequestEnd?.({ method, route: exchange.route, status, error, durationMs });
}

/** Escapes characters with which a terminal executes a command, ends a line or reorders it. */
function escapeControls(text: string | undefined): string | undefined {
  return text?.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
}

/**
 * Responds to a client that sends malformed HTTP or is too slow, and disconnects it.
 * @param res The response to a request whose body is malformed or late, if there is one.
 */
export function rejectConnection(
  socket: Duplex,
  error: Error,
  res: ServerResponse | undefined,
  { log, accessLog = true, onRequestEnd }: RequestLog,
): void {
  const exception = parserErrorToApiException(error);
  if (exception === undefined) {
    socket.destroy();
    return;
  }
  const requestId = `${res?.getHeader('X-Request-Id') ?? randomUUID()}`;
  sendErrorTo(socket, exception, requestId);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  if (res) {
    // Before Node's listener, so that handleRequest gets this error instead of one for a client that disconnected.
    socket.prependOnceListener('close', () => res.req.destroy(exception));
    return;
  }
  const { status, apiError } = exception;
  if (accessLog) log?.info({ requestId, status, error: apiError.error, reason: apiError.message }, 'request');
  onRequestEnd?.({ status, error: apiError.error });
}

/** Returns the error to send; `undefined` if the connection is broken. */
function parserErrorToApiException(error: Error): ApiException | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiException(apiErrors.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiException(apiErrors.headersTooLarge);
  return code.startsWith('HPE_') ? new ApiException(apiErrors.malformedHttp) : undefined;
}
