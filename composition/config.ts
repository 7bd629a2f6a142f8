import { isIP } from 'node:net';
import { assertTokens, InvalidTokenList } from '../adapters/static-token/index.js';
import { readTokensFile, type TokensFile } from './tokens.js';
import { durationMs, integer, sizeBytes } from './units.js';
import { type DatabaseUrl, parseDatabaseUrl, parseJwksUrl, showDatabaseUrl } from './urls.js';

/** One setting: an environment variable, and a flag of the same name. */
interface Setting<T> {
  readonly variable: string;
  readonly default: string | undefined;
  /** What values are allowed, to stand after "must be". */
  readonly allowed: string;
  readonly help: string;
  /** `false` for what does not belong on a command line, which every user of the machine can read. */
  readonly flag?: false;
  /** What of a bad value may be shown, where not all of it may. */
  readonly show?: (text: string) => string;
  /** The value, or `undefined` where the text is not allowed. */
  parse(text: string): T | undefined;
}

const duration = { allowed: 'a duration from 1ms to 24h, such as 500ms, 10s or 2m', parse: durationMs };
const onOff = {
  allowed: 'on or off',
  parse: (text: string) => (isOneOf(['on', 'off'], text) ? text === 'on' : undefined),
};
const host = {
  allowed: 'a host name or an IP address, without a port',
  parse: (text: string) => (isIP(text) !== 0 || /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) ? text : undefined),
};
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const BODY_LIMIT_BYTES_MAX = 256 * 1024 ** 2;

/** Every setting. `--help` and {@link Config} follow from it; a test compares the README's table with it. */
export const settings = {
  host: { variable: 'HOST', default: '127.0.0.1', help: 'address of the public listener', ...host },
  port: {
    variable: 'PORT',
    default: '3000',
    allowed: 'a port from 0 to 65535',
    help: 'port of the public listener; 0 takes any free port',
    parse: (text) => integer(text, 0, 65_535),
  } satisfies Setting<number>,
  basePath: {
    variable: 'BASE_PATH',
    default: undefined,
    allowed: 'a path such as /garden, of letters, digits and . _ ~ -, without a slash at its end',
    help: 'path prefix of the interface',
    parse: (text) => (/^(\/[\w~-][\w.~-]*)+$/.test(text) ? text : undefined),
  } satisfies Setting<string>,
  database: {
    variable: 'DATABASE_URL',
    default: 'sqlite:./plants.db',
    allowed: 'sqlite:PATH, postgres://…, mysql://… or memory:',
    help: 'where plants are kept: sqlite:PATH, postgres://…, mysql://…, or memory: while the process lives',
    show: showDatabaseUrl,
    parse: parseDatabaseUrl,
  } satisfies Setting<DatabaseUrl>,
  accessTokens: {
    variable: 'ACCESS_TOKENS',
    default: undefined,
    allowed: 'tokens or sha256:<hex> digests, separated by commas',
    help: 'the tokens that are let in, separated by commas; sha256:<hex> stands for a token by its digest',
    flag: false,
    show: () => '***',
    parse: parseTokens,
  } satisfies Setting<readonly string[]>,
  accessTokensFile: {
    variable: 'ACCESS_TOKENS_FILE',
    default: undefined,
    allowed: 'the path of a file with one token or sha256:<hex> digest a line',
    help: 'a file with one token or digest a line, # comments; read again on SIGHUP',
    parse: (path) => ({ path, tokens: readTokensFile(path) }),
  } satisfies Setting<TokensFile>,
  jwtIssuer: {
    variable: 'JWT_ISSUER',
    default: undefined,
    allowed: 'the issuer of the JWTs, as it stands in them',
    help: 'lets in who has a JWT of this issuer (iss); needs the two below',
    parse: (text) => text,
  } satisfies Setting<string>,
  jwtAudience: {
    variable: 'JWT_AUDIENCE',
    default: undefined,
    allowed: 'the audience of the JWTs, as it stands in them',
    help: 'the audience (aud) that a JWT must be for',
    parse: (text) => text,
  } satisfies Setting<string>,
  jwtJwksUrl: {
    variable: 'JWT_JWKS_URL',
    default: undefined,
    allowed: 'an https URL without user or password; http only to a loopback address',
    help: "where the issuer's keys are (a JSON Web Key Set)",
    show: (text) => (/^(\w+:\/\/)?[\w.-]*(\/[\w./-]*)?$/.test(text) ? text : '***'),
    parse: parseJwksUrl,
  } satisfies Setting<URL>,
  managementHost: {
    variable: 'MANAGEMENT_HOST',
    default: '127.0.0.1',
    help: 'address of the management listener',
    ...host,
  },
  managementPort: {
    variable: 'MANAGEMENT_PORT',
    default: '3001',
    allowed: 'a port from 0 to 65535, or off',
    help: 'port of the management listener: /healthz, /readyz and /metrics; or off',
    parse: (text) => (text === 'off' ? 'off' : integer(text, 0, 65_535)),
  } satisfies Setting<number | 'off'>,
  bodyLimitBytes: {
    variable: 'BODY_LIMIT',
    default: '1mb',
    allowed: 'a size from 1b to 256mb, such as 64kb or 1mb',
    help: 'largest body after decompression',
    parse: (text) => within(sizeBytes(text), 1, BODY_LIMIT_BYTES_MAX),
  } satisfies Setting<number>,
  maxPending: {
    variable: 'MAX_PENDING',
    default: '10000',
    allowed: 'a whole number from 1 to 1000000',
    help: 'most creates under way at once',
    parse: (text) => integer(text, 1, 1_000_000),
  } satisfies Setting<number>,
  maxPendingBytes: {
    variable: 'MAX_PENDING_BYTES',
    default: '64mb',
    allowed: 'a size from 1b to 64gb, such as 64mb',
    help: 'most bytes of the bodies of these',
    parse: (text) => within(sizeBytes(text), 1, 64 * 1024 ** 3),
  } satisfies Setting<number>,
  maxWrites: {
    variable: 'MAX_WRITES',
    default: undefined,
    allowed: 'a whole number from 1 to 100',
    help: 'most batches of plants that are written side by side; by default what does best with the engine',
    parse: (text) => integer(text, 1, 100),
  } satisfies Setting<number>,
  headersTimeoutMs: {
    variable: 'HEADERS_TIMEOUT',
    default: '10s',
    help: "how long a request's headers may take to arrive",
    ...duration,
  },
  requestTimeoutMs: {
    variable: 'REQUEST_TIMEOUT',
    default: '30s',
    help: 'how long a whole request may take to arrive',
    ...duration,
  },
  keepAliveTimeoutMs: {
    variable: 'KEEP_ALIVE_TIMEOUT',
    default: '65s',
    help: 'how long an idle connection is kept, and a client that does not read is waited for',
    ...duration,
  },
  storageTimeoutMs: {
    variable: 'STORAGE_TIMEOUT',
    default: '10s',
    help: 'how long a create may wait for the storage',
    ...duration,
  },
  shutdownTimeoutMs: {
    variable: 'SHUTDOWN_TIMEOUT',
    default: '10s',
    help: 'how long a stop waits for what is under way',
    ...duration,
  },
  docs: { variable: 'DOCS', default: 'on', help: 'the page at /docs, to which / leads', ...onOff },
  logLevel: {
    variable: 'LOG_LEVEL',
    default: 'info',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    help: 'how much is logged, on standard error',
    parse: (text) => (isOneOf(LOG_LEVELS, text) ? text : undefined),
  } satisfies Setting<(typeof LOG_LEVELS)[number]>,
} as const;

/** The settings, by the names that {@link Config} has for them. */
export type Settings = typeof settings;

/** Every setting, read and checked. */
export type Config = {
  readonly [Key in keyof Settings]:
    | Exclude<ReturnType<Settings[Key]['parse']>, undefined>
    | (Settings[Key]['default'] extends undefined ? undefined : never);
};

/** Settings that stop the start: one line for each, that names the variable, its value and what is allowed. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads the configuration. An empty variable counts as one that is not set.
 *
 * @throws {InvalidConfig} with everything that is wrong, not only the first
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const read = <T>(setting: Setting<T>): T | undefined => {
    const text = environment[setting.variable] || setting.default;
    if (text === undefined) return undefined;
    try {
      const value = setting.parse(text);
      if (value === undefined) problems.push(`${shown(setting, text)} must be ${setting.allowed}`);
      return value;
    } catch (error) {
      if (!(error instanceof InvalidTokenList)) throw error;
      problems.push(`${shown(setting, text)} must be ${setting.allowed}; ${error.message}`);
      return undefined;
    }
  };
  const entries = Object.entries(settings).map(([key, setting]) => [key, read<unknown>(setting)]);
  const config: Partial<Config> = Object.fromEntries(entries);

  const told = (setting: Setting<unknown>) => {
    const text = environment[setting.variable];
    return text ? shown(setting, text) : `${setting.variable} (${setting.default} by default)`;
  };
  const mustNotBeLess = (
    larger: 'requestTimeoutMs' | 'maxPendingBytes',
    smaller: 'headersTimeoutMs' | 'bodyLimitBytes',
  ) => {
    if (Number(config[larger]) < Number(config[smaller])) {
      problems.push(`${told(settings[larger])} must not be less than ${told(settings[smaller])}`);
    }
  };
  mustNotBeLess('requestTimeoutMs', 'headersTimeoutMs');
  mustNotBeLess('maxPendingBytes', 'bodyLimitBytes');
  const jwt = [settings.jwtIssuer, settings.jwtAudience, settings.jwtJwksUrl].map(({ variable }) => variable);
  const missing = jwt.filter((variable) => !environment[variable]);
  if (missing.length > 0 && missing.length < jwt.length) {
    problems.push(`${missing.join(' and ')} must be set too: ${jwt.join(', ')} go together`);
  }
  if (problems.length > 0) throw new InvalidConfig(problems);
  // Without a problem every setting that has a default has a value.
  return config as Config;
}

function shown({ variable, show }: Setting<unknown>, text: string): string {
  return `${variable}=${JSON.stringify(show ? show(text) : text)}`;
}

function parseTokens(text: string): readonly string[] {
  const tokens = text.split(',').map((token) => token.trim());
  assertTokens(tokens);
  return tokens;
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

function isOneOf<const T extends string>(allowed: readonly T[], text: string): text is T {
  return allowed.some((value) => value === text);
}
