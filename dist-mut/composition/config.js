import { isIP } from 'node:net';
import { assertTokens, InvalidTokenList } from '../adapters/static-token/index.js';
import { readTokensFile } from './tokens.js';
import { durationMs, integer, sizeBytes } from './units.js';
import { parseDatabaseUrl, parseJwksUrl, showDatabaseUrl } from './urls.js';
const duration = { allowed: 'a duration from 1ms to 24h, such as 500ms, 10s or 2m', parse: durationMs };
const onOff = {
    allowed: 'on or off',
    parse: (text) => (isOneOf(['on', 'off'], text) ? text === 'on' : undefined),
};
const host = {
    allowed: 'a host name or an IP address, without a port',
    parse: (text) => (isIP(text) !== 0 || /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) ? text : undefined),
};
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
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
    },
    basePath: {
        variable: 'BASE_PATH',
        default: undefined,
        allowed: 'a path such as /garden, of letters, digits and . _ ~ -, without a slash at its end',
        help: 'path prefix of the interface',
        parse: (text) => (/^(\/[\w~-][\w.~-]*)+$/.test(text) ? text : undefined),
    },
    database: {
        variable: 'DATABASE_URL',
        default: 'sqlite:./plants.db',
        allowed: 'sqlite:PATH, postgres://…, mysql://… or memory:',
        help: 'where plants are kept: sqlite:PATH, postgres://…, mysql://…, or memory: while the process lives',
        show: showDatabaseUrl,
        parse: parseDatabaseUrl,
    },
    accessTokens: {
        variable: 'ACCESS_TOKENS',
        default: undefined,
        allowed: 'tokens or sha256:<hex> digests, separated by commas',
        help: 'the tokens that are let in, separated by commas; sha256:<hex> stands for a token by its digest',
        flag: false,
        show: () => '***',
        parse: parseTokens,
    },
    accessTokensFile: {
        variable: 'ACCESS_TOKENS_FILE',
        default: undefined,
        allowed: 'the path of a file with one token or sha256:<hex> digest a line',
        help: 'a file with one token or digest a line, # comments; read again on SIGHUP',
        parse: (path) => ({ path, tokens: readTokensFile(path) }),
    },
    jwtIssuer: {
        variable: 'JWT_ISSUER',
        default: undefined,
        allowed: 'the issuer of the JWTs, as it stands in them',
        help: 'lets in who has a JWT of this issuer (iss); needs the two below',
        parse: (text) => text,
    },
    jwtAudience: {
        variable: 'JWT_AUDIENCE',
        default: undefined,
        allowed: 'the audience of the JWTs, as it stands in them',
        help: 'the audience (aud) that a JWT must be for',
        parse: (text) => text,
    },
    jwtJwksUrl: {
        variable: 'JWT_JWKS_URL',
        default: undefined,
        allowed: 'an https URL without user or password; http only to a loopback address',
        help: "where the issuer's keys are (a JSON Web Key Set)",
        show: (text) => (/^(\w+:\/\/)?[\w.-]*(\/[\w./-]*)?$/.test(text) ? text : '***'),
        parse: parseJwksUrl,
    },
    managementHost: {
        variable: 'MANAGEMENT_HOST',
        default: '127.0.0.1',
        help: 'address of the management listener (accepted, does nothing yet)',
        ...host,
    },
    managementPort: {
        variable: 'MANAGEMENT_PORT',
        default: '3001',
        allowed: 'a port from 0 to 65535, or off',
        help: 'port of the management listener, or off (accepted, does nothing yet)',
        parse: (text) => (text === 'off' ? 'off' : integer(text, 0, 65_535)),
    },
    bodyLimitBytes: {
        variable: 'BODY_LIMIT',
        default: '1mb',
        allowed: 'a size from 1b to 256mb, such as 64kb or 1mb',
        help: 'largest body after decompression',
        parse: (text) => within(sizeBytes(text), 1, BODY_LIMIT_BYTES_MAX),
    },
    maxPending: {
        variable: 'MAX_PENDING',
        default: '10000',
        allowed: 'a whole number from 1 to 1000000',
        help: 'most creates under way at once',
        parse: (text) => integer(text, 1, 1_000_000),
    },
    maxPendingBytes: {
        variable: 'MAX_PENDING_BYTES',
        default: '64mb',
        allowed: 'a size from 1b to 64gb, such as 64mb',
        help: 'most bytes of the bodies of these',
        parse: (text) => within(sizeBytes(text), 1, 64 * 1024 ** 3),
    },
    maxWrites: {
        variable: 'MAX_WRITES',
        default: undefined,
        allowed: 'a whole number from 1 to 100',
        help: 'most batches of plants that are written side by side; by default what does best with the engine',
        parse: (text) => integer(text, 1, 100),
    },
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
    docs: { variable: 'DOCS', default: 'on', help: 'the page at /docs (accepted, does nothing yet)', ...onOff },
    logLevel: {
        variable: 'LOG_LEVEL',
        default: 'info',
        allowed: `one of ${LOG_LEVELS.join(', ')}`,
        help: 'how much is logged, on standard error',
        parse: (text) => (isOneOf(LOG_LEVELS, text) ? text : undefined),
    },
};
/** Settings that stop the start: one line for each, that names the variable, its value and what is allowed. */
export class InvalidConfig extends Error {
    name = 'InvalidConfig';
    problems;
    constructor(problems) {
        super(problems.join('\n'));
        this.problems = problems;
    }
}
/**
 * Reads the configuration. An empty variable counts as one that is not set.
 *
 * @throws {InvalidConfig} with everything that is wrong, not only the first
 */
export function readConfig(environment) {
    const problems = [];
    const read = (setting) => {
        const text = environment[setting.variable] || setting.default;
        if (text === undefined)
            return undefined;
        try {
            const value = setting.parse(text);
            if (value === undefined)
                problems.push(`${shown(setting, text)} must be ${setting.allowed}`);
            return value;
        }
        catch (error) {
            if (!(error instanceof InvalidTokenList))
                throw error;
            problems.push(`${shown(setting, text)} must be ${setting.allowed}; ${error.message}`);
            return undefined;
        }
    };
    const entries = Object.entries(settings).map(([key, setting]) => [key, read(setting)]);
    const config = Object.fromEntries(entries);
    const told = (setting) => {
        const text = environment[setting.variable];
        return text ? shown(setting, text) : `${setting.variable} (${setting.default} by default)`;
    };
    const mustNotBeLess = (larger, smaller) => {
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
    if (problems.length > 0)
        throw new InvalidConfig(problems);
    // Without a problem every setting that has a default has a value.
    return config;
}
function shown({ variable, show }, text) {
    return `${variable}=${JSON.stringify(show ? show(text) : text)}`;
}
function parseTokens(text) {
    const tokens = text.split(',').map((token) => token.trim());
    assertTokens(tokens);
    return tokens;
}
function within(value, min, max) {
    return value !== undefined && value >= min && value <= max ? value : undefined;
}
function isOneOf(allowed, text) {
    return allowed.some((value) => value === text);
}
//# sourceMappingURL=config.js.map