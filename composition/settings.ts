import type { StaticToken } from '@plant-store/adapters/static-token';
import { InvalidConfig, readText } from './files.js';
import { parseEntries } from './token-entries.js';

/** Converts the string of a setting. Throws an error that says what is allowed. */
type Parse<T> = (text: string) => T;

/** Returns a parser that rejects a string for which `convert` returns `undefined`. */
function parser<T>(allowed: string, convert: (text: string) => T | undefined): Parse<T> {
  return (text) => {
    const value = convert(text);
    if (value === undefined) throw new InvalidConfig(`must be ${allowed}`);
    return value;
  };
}

function optional<T>(parse: Parse<T>): Parse<T | undefined> {
  return (text) => (text === '' ? undefined : parse(text));
}

/** Parses a whole number with a unit, such as 10s. */
function quantity(allowed: string, units: Readonly<Record<string, number>>, min: number, max: number) {
  return parser(allowed, (text) => {
    const [, digits, unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? [];
    const value = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
    return value >= min && value <= max ? value : undefined;
  });
}

const BYTES = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const TIMES_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const port = quantity('a port from 0 to 65535', { '': 1 }, 0, 65_535);
const portOrOff = (text: string) => (text.toLowerCase() === 'off' ? 'off' : port(text));
const count = quantity('a whole number above 0', { '': 1 }, 1, Number.MAX_SAFE_INTEGER);
const size = quantity('a size such as 64kb, 1mb or 1gb', BYTES, 1, Number.MAX_SAFE_INTEGER);
const bodySize = quantity('a size from 1b to 256mb, such as 64kb or 1mb', BYTES, 1, 256 * BYTES.mb);
const duration = quantity('a duration from 1ms to 24h, such as 500ms, 10s or 2m', TIMES_MS, 1, 24 * TIMES_MS.h);
const oneOf = <T extends string>(...values: readonly T[]) =>
  parser(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text.toLowerCase()));
const onOff = (text: string) => oneOf('on', 'off')(text) === 'on';
const host = parser('an address or a host name', (text) => /^[\w.:%-]+$/.exec(text)?.[0]);
const list = (text: string) => text.split(',').flatMap((item) => item.trim() || []);
const pathPrefix = parser('a path such as /garden', (text) => /^(\/[\w~-][\w.~-]*)+$/.exec(text)?.[0]);
const logLevel = oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent');

const tokens = (text: string): readonly StaticToken[] => parseEntries(list(text));
const jwksUrl = parser('an https URL without user and password, or an http URL of a loopback address', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  return isSafe && url?.username === '' && url.password === '' ? url : undefined;
});

/** Returns whether only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
}

/** A setting, as an environment variable. An empty default is none. */
const setting = <T>(variable: string, value: string, parse: Parse<T>, help: string) => {
  return { variable, default: value, parse, help };
};

/** Every setting: variable, default, parser and help. A test compares names and defaults with docs/configuration.md. */
export const settings = {
  host: setting('HOST', '127.0.0.1', host, 'address of the public listener'),
  port: setting('PORT', '3000', port, 'its port; 0 selects any free port'),
  basePath: setting('BASE_PATH', '', optional(pathPrefix), 'path prefix of the HTTP API, such as /garden'),
  docs: setting('DOCS', 'on', onOff, 'serve the documentation at /docs'),
  managementHost: setting('MANAGEMENT_HOST', '127.0.0.1', host, 'address of the management listener'),
  managementPort: setting('MANAGEMENT_PORT', '3001', portOrOff, 'its port, or off: /healthz, /readyz, /metrics'),
  database: setting('DATABASE_URL', 'sqlite:./plants.db', String, 'or postgres://…, mysql://…, memory:'),
  databaseFromFile: setting('DATABASE_URL_FILE', '', optional(readText), 'file that contains the URL instead'),
  plugins: setting('PLUGINS', '', list, 'modules that add or replace parts: ./garden.js,…'),
  accessTokens: setting('ACCESS_TOKENS', '', tokens, 'accepted tokens: NAME=TOKEN or NAME=sha256:HEX'),
  accessTokensFile: setting('ACCESS_TOKENS_FILE', '', optional(String), 'file with one such entry per line'),
  jwtIssuer: setting('JWT_ISSUER', '', optional(String), 'accept JWTs of this issuer; requires the next two'),
  jwtAudience: setting('JWT_AUDIENCE', '', optional(String), 'audience of these JWTs'),
  jwtJwksUrl: setting('JWT_JWKS_URL', '', optional(jwksUrl), "URL of the issuer's keys"),
  bodyLimitBytes: setting('BODY_LIMIT', '1mb', bodySize, 'maximum size of a body, or of a line of an import'),
  maxConnections: setting('MAX_CONNECTIONS', '1000', count, 'maximum number of connections; others are closed'),
  maxInFlight: setting('MAX_IN_FLIGHT', '1000', count, 'maximum number of requests in flight'),
  maxInFlightBytes: setting('MAX_IN_FLIGHT_BYTES', '64mb', size, 'memory reserved for bodies, 8 bytes per byte'),
  headersTimeoutMs: setting('HEADERS_TIMEOUT', '10s', duration, 'maximum time for the headers of a request'),
  requestTimeoutMs: setting('REQUEST_TIMEOUT', '30s', duration, 'maximum time for a whole request to arrive'),
  keepAliveTimeoutMs: setting('KEEP_ALIVE_TIMEOUT', '65s', duration, 'maximum time to keep an idle connection'),
  storageTimeoutMs: setting('STORAGE_TIMEOUT', '10s', duration, 'maximum time for the storage to respond'),
  shutdownTimeoutMs: setting('SHUTDOWN_TIMEOUT', '10s', duration, 'maximum time for requests at a shutdown'),
  logLevel: setting('LOG_LEVEL', 'info', logLevel, 'minimum level of the log on standard error'),
  accessLog: setting('ACCESS_LOG', 'on', onOff, 'log a line per request'),
} as const;
