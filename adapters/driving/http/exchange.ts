import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../core/index.js';
import { apiErrors } from '../api/index.js';
import { ApiException, closeIfIncomplete, sendError, toApiException } from './api-exception.js';

/** Maximum number of headers of a request. */
export const MAX_HEADERS = 100;

/** Maximum length of a logged path. */
const MAX_LOGGED_PATH_LENGTH = 256;

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** Receives log lines. A pino logger implements it. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A finished request. */
export interface RequestSummary {
  readonly method?: string | undefined;
  /** The route that matched, if any. */
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

/** What a handler adds to the log line of its request. */
export interface RequestReport {
  principal?: Principal;
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
  handle: (report: RequestReport) => unknown,
): Promise<void> {
  const start = performance.now();
  const { method } = req;
  const [requestId = randomUUID()] = /^[\w.:-]{1,128}$/.exec(`${req.headers['x-request-id'] ?? ''}`) ?? [];
  const report: RequestReport = {};
  let path: string | undefined;
  let exception: ApiException | undefined;
  let aborted: true | undefined;
  res.setHeader('X-Request-Id', requestId);
  try {
    path = assertWellFormed(req);
    await handle(report);
    if (!req.complete) await closeIfIncomplete(res);
  } catch (error) {
    // The client closed the connection before its request was complete, so no response can be sent.
    if (error instanceof Error && error === req.errored) aborted = true;
    else exception = toApiException(error);
  }
  if (exception) await sendError(res, exception);

  const status = aborted ? undefined : res.statusCode;
  const error = exception?.apiError.error;
  const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
  reportSafely(() => {
    if (exception?.cause !== undefined) log?.error({ requestId, error, err: exception.cause }, 'request failed');
    if (!accessLog) return;
    const subject = report.principal?.subject;
    const loggedPath = path?.slice(0, MAX_LOGGED_PATH_LENGTH);
    const [traceparent] = TRACEPARENT.exec(`${req.headers['traceparent']}`) ?? [];
    const fields = { requestId, traceparent, method, path: loggedPath, subject, status, error, aborted, durationMs };
    log?.info(fields, 'request');
  });
  reportSafely(() => onRequestEnd?.({ method, route: report.route, status, error, durationMs }));
}

/** Calls a log or metrics callback and ignores its errors. */
export function reportSafely(report: () => void): void {
  try {
    report();
  } catch {
    // A failing log cannot be logged.
  }
}

/**
 * Checks the head of a request, and brings `req.url` into origin form. Returns its path.
 * @throws {ApiException} Too many headers (43101), a request that Node's parser accepts but HTTP does not (40000), or a
 * target that is not a path (40401).
 */
function assertWellFormed(req: IncomingMessage): string {
  const { httpVersion, headers, rawHeaders } = req;
  if (rawHeaders.length > 2 * MAX_HEADERS) throw new ApiException(apiErrors.headersTooLarge);
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw new ApiException(apiErrors.malformedHttp);
  const hosts = countHeaders(req, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw malformed('The request must have exactly one Host header');
  }
  // RFC 9112 §3.2: a host with an optional port, or nothing.
  if (!/^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d*)?$/i.test(headers.host ?? '')) {
    throw malformed('The Host header must be a host with an optional port');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw malformed('Transfer-Encoding must be chunked and requires HTTP/1.1; otherwise leave it out');
  }
  const target = toOriginForm(req.url ?? '');
  if (target === undefined) throw new ApiException(apiErrors.noSuchPath);
  req.url = target;
  return target.replace(/\?.*/, '');
}

/** Returns how often a header was sent. Of some headers, Node keeps only the first; `headersDistinct` is slow. */
export function countHeaders({ rawHeaders }: IncomingMessage, lowerCaseName: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count++;
  }
  return count;
}

function malformed(message: string): ApiException {
  return new ApiException({ ...apiErrors.malformedHttp, message });
}

/**
 * Converts a request target in origin or absolute form (RFC 9112 §3.2) to path and query; `undefined` for others.
 * Frameworks pass unusual targets to Node's lenient URL parser, which repairs some and throws on others.
 */
function toOriginForm(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '').replace(/^(?=\?|$)/, '/');
  return /^\/[\x21\x22\x24-\x7e]*$/.test(path) ? path : undefined;
}
