import { isIP } from 'node:net';
import { assertTokens, InvalidTokenList, parseTokens } from '../adapters/driven/static-token/index.js';
import { parseStorageUrl, redactStorageUrl, STORAGE_URLS } from './built-in-storages.js';
import { InvalidConfig } from './invalid-config.js';
import { readSecretFile } from './secret-file.js';
import { findSimilar } from './similar-name.js';
import { parseJwksUrl } from './urls.js';

/** Converts the string of a setting to its value. */
export interface Parser<T> {
  /** The allowed values, phrased to follow "must be". */
  readonly allowed: string;
  /** Returns the part of an invalid value that is safe to print. */
  readonly redact?: (text: string) => string;
  /** `false` for secrets, because every user of the machine can read a command line. */
  readonly flag?: false;
  /** Returns `undefined` if the string is not allowed. */
  readonly parse: (text: string) => T | undefined;
}

/** An environment variable and the flag of the same name. */
export interface Setting<T = unknown, Default = string | undefined> extends Parser<T> {
  readonly variable: string;
  readonly default: Default;
  readonly help: string;
  /** The section of `--help` that lists it. */
  readonly group: string;
}

const parser = <T>(allowed: string, parse: (text: string) => T | undefined): Parser<T> => ({ allowed, parse });

/** Parses a whole number from `min` to `max`, with a unit, such as 10s. */
const quantity = (allowed: string, units: Readonly<Record<string, number>>, min: number, max: number) =>
  parser(allowed, (text) => {
    const [, digits, unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? [];
    const value = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
    return value >= min && value <= max ? value : undefined;
  });

const port = quantity('a port from 0 to 65535', { '': 1 }, 0, 65_535);
const portOrOff = parser(`${port.allowed}, or off`, (text) => (text === 'off' ? 'off' : port.parse(text)));
const hostName = parser('a host name or an IP address, without a port', (text) =>
  isIP(text) !== 0 || /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) ? text : undefined,
);
const pathPrefix = parser(
  'a path such as /garden: letters, digits and . _ ~ -, with no slash at the end',
  (text) => /^(\/[\w~-][\w.~-]*)+$/.exec(text)?.[0],
);
const onOff = parser('on or off', (text) => (text === 'on' || text === 'off' ? text === 'on' : undefined));
const oneOf = <T extends string>(values: readonly T[]) =>
  parser(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text));
const anyText = parser('a non-empty string', (text) => text);
const BYTES = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const size = (max: number, unit: 'mb' | 'gb') =>
  quantity(`a size from 1b to ${max}${unit}, such as 64kb or 1mb`, BYTES, 1, max * BYTES[unit]);
const count = (max: number) => quantity(`a whole number from 1 to ${max}`, { '': 1 }, 1, max);
const TIMES_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const duration = quantity('a duration from 1ms to 24h, such as 500ms, 10s or 2m', TIMES_MS, 1, 24 * TIMES_MS.h);
const databaseUrl = { ...parser(STORAGE_URLS, parseStorageUrl), redact: redactStorageUrl };
const modules = parser('paths that start with ./, ../ or /, or package names, separated by commas', (text) =>
  /(^|,)\s*(,|$)/.test(text) ? undefined : splitList(text),
);
const tokens = {
  ...parser('tokens or sha256:<hex> digests, separated by commas', parseTokenList),
  redact: () => '***',
  flag: false as const,
};
const tokensFile = parser('the path of a file with one token or sha256:<hex> digest per line', readTokensFile);
const databaseUrlFile = parser('the path of a file whose only line is a URL as in DATABASE_URL', (path) =>
  parseStorageUrl(readSecretFile(path).trim()),
);
const jwksUrl = {
  ...parser('an https URL without user or password; http only to a loopback address', parseJwksUrl),
  redact: (text: string) => (/^(\w+:\/\/)?[\w.-]*(\/[\w./-]*)?$/.test(text) ? text : '***'),
};
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const inGroup =
  (group: string) =>
  <T, Default extends string | undefined>(
    variable: string,
    defaultText: Default,
    parser: Parser<T>,
    help: string,
  ): Setting<T, Default> => ({ ...parser, variable, default: defaultText, help, group });
const listener = inGroup('Listeners');
const storage = inGroup('Storage');
const credential = inGroup('Credentials');
const limit = inGroup('Limits');
const timeout = inGroup('Timeouts');
const logging = inGroup('Logging');

/** Every setting: variable, default, parser and help. A test compares names and defaults with the README's table. */
export const settings = {
  host: listener('HOST', '127.0.0.1', hostName, 'address of the public listener'),
  port: listener('PORT', '3000', port, 'port of the public listener; 0 selects any free port'),
  basePath: listener('BASE_PATH', undefined, pathPrefix, 'path prefix of the HTTP API, such as /garden'),
  docs: listener('DOCS', 'on', onOff, 'serve the documentation at /docs, and redirect / to it'),
  managementHost: listener('MANAGEMENT_HOST', '127.0.0.1', hostName, 'address of the management listener'),
  /** Port of the management listener; 0 selects any free port, `off` disables the listener. */
  managementPort: listener('MANAGEMENT_PORT', '3001', portOrOff, 'port of /healthz, /readyz and /metrics, or off'),
  /** The storage, unless a plugin replaces it. */
  database: storage('DATABASE_URL', 'sqlite:./plants.db', databaseUrl, databaseUrl.allowed),
  /** The storage, instead of `database`. */
  databaseFromFile: storage('DATABASE_URL_FILE', undefined, databaseUrlFile, 'a file that contains the URL instead'),
  /** Modules that replace parts of the service, in loading order. */
  plugins: storage('PLUGINS', undefined, modules, 'modules that add storages or replace other parts: ./garden.js'),
  accessTokens: credential('ACCESS_TOKENS', undefined, tokens, 'accepted tokens, or their sha256:<hex> digests'),
  /** A file of static tokens or digests, and what it contained when it was read. */
  accessTokensFile: credential('ACCESS_TOKENS_FILE', undefined, tokensFile, 'one token or digest per line, # comments'),
  jwtIssuer: credential('JWT_ISSUER', undefined, anyText, 'accept JWTs of this issuer (iss); requires the next two'),
  jwtAudience: credential('JWT_AUDIENCE', undefined, anyText, 'required audience (aud) of a JWT'),
  jwtJwksUrl: credential('JWT_JWKS_URL', undefined, jwksUrl, "URL of the issuer's keys (a JSON Web Key Set)"),
  bodyLimitBytes: limit('BODY_LIMIT', '1mb', size(256, 'mb'), 'size of a decompressed body, or of a line of an import'),
  maxInFlight: limit('MAX_IN_FLIGHT', '10000', count(1_000_000), 'create requests in flight'),
  maxInFlightBytes: limit('MAX_IN_FLIGHT_BYTES', '64mb', size(64, 'gb'), 'total bytes of their bodies'),
  headersTimeoutMs: timeout('HEADERS_TIMEOUT', '10s', duration, "for a request's headers to arrive"),
  requestTimeoutMs: timeout('REQUEST_TIMEOUT', '30s', duration, 'for a whole request to arrive'),
  keepAliveTimeoutMs: timeout('KEEP_ALIVE_TIMEOUT', '65s', duration, 'for an idle client, or one that does not read'),
  storageTimeoutMs: timeout('STORAGE_TIMEOUT', '10s', duration, 'for the storage to respond'),
  shutdownTimeoutMs: timeout('SHUTDOWN_TIMEOUT', '10s', duration, 'for requests in flight at a shutdown'),
  logLevel: logging('LOG_LEVEL', 'info', oneOf(LOG_LEVELS), 'minimum level of log lines, on standard error'),
  accessLog: logging('ACCESS_LOG', 'on', onOff, 'log a line per request'),
};

/** Returns the settings that a command reads. It ignores others, because one environment often serves all commands. */
export function settingsOf(command: string): readonly Setting[] {
  const all: readonly Setting[] = Object.values(settings);
  if (command === 'serve' || command === 'check') return all;
  if (command === 'token') return [];
  const { storageTimeoutMs, logLevel, bodyLimitBytes } = settings;
  const others: readonly Setting[] = [storageTimeoutMs, logLevel, ...(command === 'import' ? [bodyLimitBytes] : [])];
  return all.filter((setting) => setting.group === settings.database.group || others.includes(setting));
}

/**
 * The parsed value of every setting: durations (`…Ms`) in milliseconds, sizes (`…Bytes`) in bytes, and `undefined` if a
 * setting without a default is unset. The README's table describes each setting.
 */
export type Config = {
  readonly [Key in keyof typeof settings]: (typeof settings)[Key] extends Setting<infer T, infer Default>
    ? T | (Default extends undefined ? undefined : never)
    : never;
} & {
  /** Whether `DATABASE_URL` or `DATABASE_URL_FILE` is set, even if to the default. */
  readonly isDatabaseSet: boolean;
  /** Whether the storage is opened for reading only. Default: false. */
  readonly readOnly?: boolean;
  /** Each setting that has a value, in one line, without secrets. */
  readonly effective: readonly string[];
  /** What the service logs when it starts: variables that are one typing error away from a setting. */
  readonly warnings: readonly string[];
};

/**
 * Reads the configuration. An empty variable counts as unset, and so does a variable that `command` does not read.
 * @param command Name of a command. Default: `serve`.
 * @throws {InvalidConfig} A setting is invalid. The message has every problem, not only the first.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>, command = 'serve'): Config {
  const problems: string[] = [];
  const read = (setting: Setting): unknown => {
    const given = settingsOf(command).includes(setting) ? environment[setting.variable] : undefined;
    const text = given === undefined || given === '' ? setting.default : given;
    if (text === undefined) return undefined;
    // A caller in JavaScript may pass a number.
    let problem = `${setting.variable} must be a string`;
    try {
      if (typeof text === 'string') {
        problem = `${describeSetting(setting, text)} must be ${setting.allowed}`;
        const value = setting.parse(text);
        if (value !== undefined) return value;
      }
    } catch (error) {
      if (!(error instanceof InvalidTokenList || error instanceof InvalidConfig)) throw error;
      problem += `; ${error.message}`;
    }
    problems.push(problem);
    return undefined;
  };
  const entries = Object.entries(settings).map(([key, setting]) => [key, read(setting)]);
  const values: Partial<Config> = Object.fromEntries(entries);
  const { database, databaseFromFile: file, host } = settings;
  if (values.databaseFromFile && environment[database.variable])
    problems.push(`${database.variable} and ${file.variable} must not both be set`);
  if (settingsOf(command).includes(host)) problems.push(...conflicts(values, environment));
  if (problems.length > 0) throw new InvalidConfig(problems.join('\n'));
  // Without a problem, every setting with a default has a value.
  const config = {
    ...values,
    database: values.databaseFromFile ?? values.database,
    isDatabaseSet: Boolean(environment[database.variable] || environment[file.variable]),
    effective: settingsOf(command)
      .filter((setting) => setting !== database || !values.databaseFromFile)
      .filter(({ variable, default: value }) => environment[variable] || value !== undefined)
      .map((setting) => describeEffective(setting, environment)),
    warnings: findMistyped(Object.keys(environment)),
  };
  return config as Config;
}

type Environment = Parameters<typeof readConfig>[0];

function describeEffective(setting: Setting, environment: Environment): string {
  const text = environment[setting.variable];
  return text ? describeSetting(setting, text) : `${describeSetting(setting, setting.default ?? '')} (default)`;
}

/** Returns a warning for each variable that is one typing error away from a setting. */
function findMistyped(variables: readonly string[]): readonly string[] {
  const known = Object.values(settings).map(({ variable }) => variable);
  return variables.flatMap((variable) => {
    const similar = known.includes(variable) ? undefined : findSimilar(variable, known);
    return similar === undefined ? [] : [`${variable} is not a setting; did you mean ${similar}?`];
  });
}

/** Returns the problems of settings that depend on each other. */
function conflicts(config: Partial<Config>, environment: Environment): string[] {
  const ordered = [
    ['requestTimeoutMs', 'headersTimeoutMs'],
    ['maxInFlightBytes', 'bodyLimitBytes'],
  ] as const;
  const problems = ordered
    .filter(([larger, smaller]) => Number(config[larger]) < Number(config[smaller]))
    .map((pair) => pair.map((key) => describeEffective(settings[key], environment)).join(' must not be less than '));
  const { host, managementHost, port, managementPort } = config;
  const addressesOverlap =
    host === managementHost || [host, managementHost].some((each) => each === '0.0.0.0' || each === '::');
  if (addressesOverlap && port !== 0 && port === managementPort) {
    const pair = [settings.managementPort, settings.port].map((setting) => describeEffective(setting, environment));
    problems.push(pair.join(' must differ from '));
  }
  const jwt = [settings.jwtIssuer, settings.jwtAudience, settings.jwtJwksUrl].map(({ variable }) => variable);
  const missing = jwt.filter((variable) => !environment[variable]);
  if (missing.length > 0 && missing.length < jwt.length)
    problems.push(`${missing.join(' and ')} must be set: ${jwt.join(', ')} require each other`);
  return problems;
}

/** Returns a setting and its value for a message, without secrets. */
export function describeSetting({ variable, redact }: Setting, text: string): string {
  return `${variable}=${JSON.stringify(redact ? redact(text) : text)}`;
}

/** A file of tokens: its path, its tokens, and the Unix time at which it was read. */
export interface TokensFile {
  readonly path: string;
  readonly tokens: readonly string[];
  readonly loadedAtMs: number;
}

/** @throws {InvalidConfig | InvalidTokenList} The file cannot be read, or has no or invalid tokens. */
export function readTokensFile(path: string): TokensFile {
  const loadedAtMs = Date.now();
  const tokens = parseTokens(readSecretFile(path));
  if (tokens.length === 0) throw new InvalidConfig('the file contains no token');
  assertTokens(tokens);
  return { path, tokens, loadedAtMs };
}

function parseTokenList(text: string): readonly string[] {
  assertTokens(splitList(text));
  return splitList(text);
}

function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim());
}
