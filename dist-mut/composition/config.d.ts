import { durationMs } from './units.js';
import { parseDatabaseUrl, parseJwksUrl, showDatabaseUrl } from './urls.js';
/** Every setting. `--help` and {@link Config} follow from it; a test compares the README's table with it. */
export declare const settings: {
    readonly host: {
        readonly allowed: string;
        readonly parse: (text: string) => string | undefined;
        readonly variable: 'HOST';
        readonly default: '127.0.0.1';
        readonly help: 'address of the public listener';
    };
    readonly port: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => number | undefined;
    };
    readonly basePath: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        parse: (text: string) => string | undefined;
    };
    readonly database: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        show: typeof showDatabaseUrl;
        parse: typeof parseDatabaseUrl;
    };
    readonly accessTokens: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        flag: false;
        show: () => string;
        parse: typeof parseTokens;
    };
    readonly accessTokensFile: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        parse: (path: string) => {
            path: string;
            tokens: readonly string[];
        };
    };
    readonly jwtIssuer: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        parse: (text: string) => string;
    };
    readonly jwtAudience: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        parse: (text: string) => string;
    };
    readonly jwtJwksUrl: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        show: (text: string) => string;
        parse: typeof parseJwksUrl;
    };
    readonly managementHost: {
        readonly allowed: string;
        readonly parse: (text: string) => string | undefined;
        readonly variable: 'MANAGEMENT_HOST';
        readonly default: '127.0.0.1';
        readonly help: 'address of the management listener (accepted, does nothing yet)';
    };
    readonly managementPort: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => number | "off" | undefined;
    };
    readonly bodyLimitBytes: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => number | undefined;
    };
    readonly maxPending: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => number | undefined;
    };
    readonly maxPendingBytes: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => number | undefined;
    };
    readonly maxWrites: {
        variable: string;
        default: undefined;
        allowed: string;
        help: string;
        parse: (text: string) => number | undefined;
    };
    readonly headersTimeoutMs: {
        readonly allowed: string;
        readonly parse: typeof durationMs;
        readonly variable: 'HEADERS_TIMEOUT';
        readonly default: '10s';
        readonly help: "how long a request's headers may take to arrive";
    };
    readonly requestTimeoutMs: {
        readonly allowed: string;
        readonly parse: typeof durationMs;
        readonly variable: 'REQUEST_TIMEOUT';
        readonly default: '30s';
        readonly help: 'how long a whole request may take to arrive';
    };
    readonly keepAliveTimeoutMs: {
        readonly allowed: string;
        readonly parse: typeof durationMs;
        readonly variable: 'KEEP_ALIVE_TIMEOUT';
        readonly default: '65s';
        readonly help: 'how long an idle connection is kept, and a client that does not read is waited for';
    };
    readonly storageTimeoutMs: {
        readonly allowed: string;
        readonly parse: typeof durationMs;
        readonly variable: 'STORAGE_TIMEOUT';
        readonly default: '10s';
        readonly help: 'how long a create may wait for the storage';
    };
    readonly shutdownTimeoutMs: {
        readonly allowed: string;
        readonly parse: typeof durationMs;
        readonly variable: 'SHUTDOWN_TIMEOUT';
        readonly default: '10s';
        readonly help: 'how long a stop waits for what is under way';
    };
    readonly docs: {
        readonly allowed: string;
        readonly parse: (text: string) => boolean | undefined;
        readonly variable: 'DOCS';
        readonly default: 'on';
        readonly help: 'the page at /docs (accepted, does nothing yet)';
    };
    readonly logLevel: {
        variable: string;
        default: string;
        allowed: string;
        help: string;
        parse: (text: string) => "debug" | "error" | "fatal" | "info" | "silent" | "trace" | "warn" | undefined;
    };
};
type Settings = typeof settings;
/** Every setting, read and checked. */
export type Config = {
    readonly [Key in keyof Settings]: Exclude<ReturnType<Settings[Key]['parse']>, undefined> | (Settings[Key]['default'] extends undefined ? undefined : never);
};
/** Settings that stop the start: one line for each, that names the variable, its value and what is allowed. */
export declare class InvalidConfig extends Error {
    readonly name = "InvalidConfig";
    readonly problems: readonly string[];
    constructor(problems: readonly string[]);
}
/**
 * Reads the configuration. An empty variable counts as one that is not set.
 *
 * @throws {InvalidConfig} with everything that is wrong, not only the first
 */
export declare function readConfig(environment: Readonly<Record<string, string | undefined>>): Config;
declare function parseTokens(text: string): readonly string[];
export {};
//# sourceMappingURL=config.d.ts.map