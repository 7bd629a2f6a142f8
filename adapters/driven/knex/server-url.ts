/** The URL of a server is invalid, or has a parameter that would be ignored or misunderstood. */
export class InvalidServerUrl extends Error {
  override readonly name = 'InvalidServerUrl';
}

/** A URL of a server, read once: drivers get its parts. */
export interface ServerUrl {
  /** The URL without user, password and parameters. */
  readonly name: string;
  /** `host`, `port`, `user`, `password` and `database`, unless they are empty, and the parameters. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Parses the URL of a server. @throws {InvalidServerUrl} */
export function parseServerUrl(text: string, knownParameters: readonly string[]): ServerUrl {
  // A parameter may have the host.
  const withHost = text.replace('@/', '@localhost/');
  const url = URL.canParse(withHost) ? new URL(withHost) : undefined;
  // `URL` removes white space. In postgres://user:12/3@host, the password would be part of the path, and printed.
  if (url === undefined || /\s/.test(text) || /@/.test(url.pathname + url.search) || url.hash !== '')
    throw new InvalidServerUrl('percent-encode special characters of user, password and parameters');
  const { protocol, host, hostname, port, username: user, password, pathname, searchParams } = url;
  if (!/^\/./.test(pathname))
    throw new InvalidServerUrl('must name a database after the host, as in postgres://localhost/plants');
  for (const [name, value] of searchParams) {
    // With a mistyped or repeated sslmode, the service might connect without TLS.
    if (!knownParameters.includes(name))
      throw new InvalidServerUrl(`unknown parameter ${name}; known are ${knownParameters.join(', ')}`);
    if (value === '' || searchParams.getAll(name).length > 1) throw new InvalidServerUrl(`${name} must have one value`);
  }
  const parts = { host: hostname.replace(/^\[|]$/g, ''), port, user, password, database: pathname.slice(1) };
  const settings: Record<string, string> = {};
  for (const [part, text] of Object.entries(parts)) if (text !== '') settings[part] = decode(text);
  for (const [parameter, text] of searchParams) settings[parameter] = text;
  return { name: `${protocol}//${host}${pathname}`, settings };
}

/** Checks the content of a certificate: if it is empty, Node trusts its own authorities. @throws {InvalidServerUrl} */
export function assertCertificate(parameter: string, pem: unknown): void {
  if (!/CERTIFICATE-----/.test(`${pem}`)) throw new InvalidServerUrl(`${parameter} must be a PEM certificate`);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new InvalidServerUrl('percent-encode % as %25');
  }
}
