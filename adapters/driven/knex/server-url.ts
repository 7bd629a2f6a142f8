import { isIP } from 'node:net';

const POSTGRES_PARAMETERS = `sslmode sslrootcert sslcert sslkey host port user password application_name options
  statement_timeout lock_timeout idle_in_transaction_session_timeout`.split(/\s+/);
const MYSQL_PARAMETERS = ['ssl', 'socketPath', 'compress', 'localAddress'];

/** The URL of a server is invalid, or has a parameter that the driver would ignore or misunderstand. */
export class InvalidServerUrl extends Error {
  override readonly name = 'InvalidServerUrl';
}

/** Returns the name of a PostgreSQL database, without a password. @throws {InvalidServerUrl} */
export function toPostgresName(text: string): string {
  const url = parseUrl(text, POSTGRES_PARAMETERS);
  const sslmode = url.searchParams.get('sslmode') ?? 'disable';
  // pg 8 takes others for verify-full, with a warning.
  if (!['disable', 'verify-full', 'no-verify'].includes(sslmode))
    throw new InvalidServerUrl('sslmode must be disable, verify-full or no-verify');
  return toName(url);
}

/** Returns the name of a MySQL or MariaDB database, without a password. @throws {InvalidServerUrl} */
export function toMysqlName(text: string): string {
  const url = parseUrl(text, MYSQL_PARAMETERS);
  const isAddress = isIP(url.hostname.replace(/[[\]]/g, '')) > 0;
  if (isAddress && /"verifyIdentity"\s*:\s*true/.test(url.searchParams.get('ssl') ?? ''))
    throw new InvalidServerUrl('verifyIdentity needs a host name, because mysql2 does not compare IP addresses');
  return toName(url);
}

function parseUrl(text: string, knownParameters: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // In postgres://user:12/3@host, the password would be part of the path, and printed.
  if (url === undefined || /@/.test(url.pathname + url.search + url.hash))
    throw new InvalidServerUrl('percent-encode special characters of user, password and parameters');
  if (!/^\/./.test(url.pathname))
    throw new InvalidServerUrl('must name a database after the host, as in postgres://localhost/plants');
  const unknown = [...url.searchParams.keys()].find((name) => !knownParameters.includes(name));
  // With a mistyped sslmode, the driver would connect without TLS.
  if (unknown !== undefined)
    throw new InvalidServerUrl(`unknown parameter ${unknown}; known are ${knownParameters.join(', ')}`);
  return url;
}

function toName({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
