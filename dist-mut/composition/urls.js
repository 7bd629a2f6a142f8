import { isIP } from 'node:net';
/** What a `DATABASE_URL` says; `undefined` where it is not allowed. */
export function parseDatabaseUrl(text) {
    const [, scheme, rest] = /^([a-z]+):([^\0]*)$/.exec(text) ?? [];
    switch (scheme) {
        case 'memory':
            return rest === '' ? { kind: 'memory' } : undefined;
        case 'sqlite':
            // Of sqlite://name nobody knows whether name is a host, or a file here or in the root folder.
            return rest && !/^(:memory:$|\/\/[^/])/.test(rest) ? { kind: 'sqlite', path: rest } : undefined;
        case 'postgres':
        case 'postgresql':
            return isServerUrl(text) ? { kind: 'postgres', url: text } : undefined;
        case 'mysql':
            return isServerUrl(text) ? { kind: 'mysql', url: text } : undefined;
        default:
            return undefined;
    }
}
/** A URL with an authority: `postgres:user:password@host` parses too, but its password is then part of a path. */
function isServerUrl(text) {
    return /^\w+:\/\//.test(text) && URL.canParse(text);
}
/** An https URL without a credential, or an http one of this machine; `undefined` for any other text. */
export function parseJwksUrl(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '')
        return undefined;
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
    return isSafe ? url : undefined;
}
/** What of a bad value cannot hold a password: where one stands in a malformed URL, nobody knows. */
export function showDatabaseUrl(text) {
    const isHarmless = /^sqlite:|^\w*$|^(postgres|postgresql|mysql):\/\/[\w.-]+\/[\w.-]*$/i.test(text);
    return isHarmless ? text : `${/^[a-z]+:(?=\/\/)/i.exec(text)?.[0] ?? ''}***`;
}
/** Whether only programs of this machine can reach a listener on `host`. */
export function isLoopback(host) {
    return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
//# sourceMappingURL=urls.js.map