import { isIP } from 'node:net';

/** A parsed `DATABASE_URL`. */
export type DatabaseUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres' | 'mysql'; readonly url: string };

/** Parses a `DATABASE_URL`. Returns `undefined` if it is not allowed. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  if (text === 'memory:') return { kind: 'memory' };
  // In sqlite://name, the name could be a host, a relative path or an absolute path.
  const path = /^sqlite:(?!:memory:$|\/\/[^/])([^\0]+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'sqlite', path };
  // Requires an authority: in postgres:user:password@host, the password would be part of the path.
  const scheme = /^(postgres|postgresql|mysql):\/\/[^\0]*$/.exec(text)?.[1];
  if (scheme === undefined || !URL.canParse(text)) return undefined;
  return { kind: scheme === 'mysql' ? 'mysql' : 'postgres', url: text };
}

/** Parses an https URL without credentials, or an http URL of a loopback address. */
export function parseJwksUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  return url.protocol === 'https:' || isLocal ? url : undefined;
}

/** Hides everything that may be a password: in a malformed URL, its position is unknown. */
export function redactDatabaseUrl(text: string): string {
  const isHarmless = /^sqlite:|^\w*$|^(postgres|postgresql|mysql):\/\/[\w.-]+\/[\w.-]*$/i.test(text);
  return isHarmless ? text : `${/^[a-z]+:(?=\/\/)/i.exec(text)?.[0] ?? ''}***`;
}

/** Returns whether only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
