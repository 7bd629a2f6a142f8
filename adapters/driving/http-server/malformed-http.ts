import http from 'node:http';
import { type ApiError, apiErrors, toStatus } from '../api/api-errors.js';

/** The error for CONNECT, which Node hands to no listener. */
export const connectNotAllowed: ApiError = {
  ...apiErrors.methodNotAllowed,
  headers: { Allow: http.METHODS.filter((method) => method !== 'CONNECT').join(', ') },
};

/** Returns the error for what Node reports about a client; `undefined` if the client has left. */
export function clientErrorToApiError({ code = '' }: NodeJS.ErrnoException): ApiError | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return apiErrors.requestTimeout;
  if (code === 'HPE_HEADER_OVERFLOW') return apiErrors.headersTooLarge;
  return /^HPE_(?!INVALID_EOF_STATE)/.test(code) ? apiErrors.malformedHttp : undefined;
}

/** Returns the bytes of the last response of a connection, an Error object. */
export function formatResponse(apiError: ApiError, requestId: string): string {
  const { error, message, headers } = apiError;
  const status = toStatus(apiError);
  const body = JSON.stringify({ error, message });
  const lines = Object.entries({
    Date: new Date().toUTCString(),
    'X-Request-Id': requestId,
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
