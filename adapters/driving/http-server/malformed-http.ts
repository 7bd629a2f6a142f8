import http from 'node:http';
import { type ApiError, apiErrors, toStatus } from '../api/api-errors.js';

const Allow = http.METHODS.filter((method) => method !== 'CONNECT').join(', ');
/** The error for CONNECT, which Node hands to no listener. */
export const connectNotAllowed: ApiError = { ...apiErrors.methodNotAllowed, headers: { Allow } };

/** Returns the error for what Node reports about a client; `undefined` if the client has left. */
export function clientErrorToApiError({ code = '' }: NodeJS.ErrnoException): ApiError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return /^HPE_(?!INVALID_EOF_STATE)/.test(code) ? apiErrors.malformedHttp : undefined;
}

/** Returns the bytes of a response with an Error object, the last of its connection. */
export function formatResponse(apiError: ApiError, requestId: string): string {
  const { error, message, headers } = apiError;
  const status = toStatus(apiError);
  const body = JSON.stringify({ error, message });
  const names = { ...headers, 'X-Request-Id': requestId, 'Content-Type': 'application/json', Connection: 'close' };
  const lines = Object.entries(names).map(([name, value]) => `${name}: ${value}\r\n`);
  const framing = `Date: ${new Date().toUTCString()}\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}${framing}\r\n\r\n${body}`;
}
