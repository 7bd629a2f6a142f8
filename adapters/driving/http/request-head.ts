import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { apiErrors } from '../api/index.js';
import { HttpError } from './http-error.js';

/** Maximum number of headers of a request. */
export const MAX_HEADERS = 100;

/**
 * Checks the head of a request, and brings `req.url` into origin form. Returns its path.
 * @throws {HttpError} Too many headers (43101), a request that Node's parser accepts but HTTP does not (40000), or a
 * target that is not a path (40401).
 */
export function assertWellFormed(req: IncomingMessage): string {
  const { httpVersion, headers, rawHeaders } = req;
  if (rawHeaders.length > 2 * MAX_HEADERS) throw new HttpError(apiErrors.headersTooLarge);
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw new HttpError(apiErrors.malformedHttp);
  const { host: hosts = [] } = req.headersDistinct;
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) {
    throw malformed('The request must have exactly one Host header');
  }
  // RFC 9112 §3.2: a host with an optional port, or nothing.
  if (!hosts.every((host) => /^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d*)?$/i.test(host))) {
    throw malformed('The Host header must be a host with an optional port');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw malformed('Transfer-Encoding must be chunked and requires HTTP/1.1; otherwise leave it out');
  }
  const target = toOriginForm(req.url ?? '');
  if (target === undefined) throw new HttpError(apiErrors.noSuchPath);
  req.url = target;
  return target.replace(/\?.*/, '');
}

function malformed(message: string): HttpError {
  return new HttpError({ ...apiErrors.malformedHttp, message });
}

/**
 * Converts a request target in origin or absolute form (RFC 9112 §3.2) to path and query; `undefined` for others.
 * Frameworks pass unusual targets to Node's lenient URL parser, which repairs some and throws on others.
 */
function toOriginForm(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '').replace(/^(?=\?|$)/, '/');
  return /^\/[\x21\x22\x24-\x7e]*$/.test(path) ? path : undefined;
}

/** Returns the client's `X-Request-Id` if it is 1 to 128 safe characters, otherwise a new id. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}
