import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { apiErrors } from '../api/index.js';
import { HttpError } from './http-error.js';

/** Throws 40000 for requests that Node's parser accepts but HTTP does not. */
export function assertWellFormed(req: IncomingMessage): void {
  const { httpVersion, headers } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw new HttpError(apiErrors.malformedHttp);
  const hosts = countHeader(req, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw malformed('The request must have exactly one Host header');
  }
  // RFC 9112 §3.2: a host with an optional port, or nothing.
  if (hosts === 1 && !/^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d*)?$/i.test(headers.host ?? '')) {
    throw malformed('The Host header must be a host with an optional port');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw malformed('Transfer-Encoding must be chunked and requires HTTP/1.1; otherwise leave it out');
  }
}

function malformed(message: string): HttpError {
  return new HttpError({ ...apiErrors.malformedHttp, message });
}

/**
 * Converts a request target in origin or absolute form (RFC 9112 §3.2) to path and query; `undefined` for others. Koa
 * would pass unusual targets to Node's lenient URL parser, which repairs some and throws on others.
 */
export function toOriginForm(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '').replace(/^(?=\?|$)/, '/');
  return /^\/[\x21\x22\x24-\x7e]*$/.test(path) ? path : undefined;
}

/** Returns the client's `X-Request-Id` if it is 1 to 128 safe characters, otherwise a new id. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}

/** Counts the headers with this name; for some names, Node silently keeps only the first. */
export function countHeader({ rawHeaders }: IncomingMessage, lowerCaseName: string): number {
  const isMatch = (name: string) => name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName;
  return rawHeaders.filter((name, index) => index % 2 === 0 && isMatch(name)).length;
}
