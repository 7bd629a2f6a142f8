import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { InvalidConfig } from './invalid-config.js';
import { describeReadError } from './secret-file.js';
import { findSimilar } from './similar-name.js';

/**
 * Drivers ignore parameters and values that they do not know: with a mistyped `sslmode`, they would connect without TLS.
 * @param allowed As in `Engine.urlParameters`.
 * @throws {InvalidConfig} A parameter is unknown. Names only a typing error: any other name may be part of a password.
 */
export function assertParameters(parameters: URLSearchParams, allowed: string): void {
  const known = new Map(
    allowed.split(/\s+/).map((parameter) => [parameter.replace(/=.*/, ''), parameter.split('=')[1]]),
  );
  assertKnown('its', 'it', [...parameters.keys()], [...known.keys()]);
  for (const [name, value] of parameters) {
    const values = known.get(name);
    if (values === 'FILE') assertReadable(name, value);
    else if (values === 'NUMBER' && !(Number(value) > 0)) throw new InvalidConfig(`${name} must be a number above 0`);
    else if (values?.startsWith('{'))
      assertKnown(`${name}'s`, name, membersOf(name, value), values.split(/\W+/).filter(Boolean));
    else if (values !== undefined && !values.split('|').includes(value))
      throw new InvalidConfig(`${name} must be one of ${values.replaceAll('|', ', ')}`);
  }
}

/** @throws {InvalidConfig} A name is unknown. */
function assertKnown(whose: string, what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const similar = findSimilar(unknown, known);
  throw new InvalidConfig(
    similar
      ? `${whose} parameter ${unknown} is unknown; did you mean ${similar}?`
      : `${what} has an unknown parameter; known are ${known.join(', ')}`,
  );
}

/** @throws {InvalidConfig} The text is not a JSON object. */
function membersOf(name: string, json: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.keys(value);
  } catch {
    // The message would quote the text.
  }
  throw new InvalidConfig(`${name} must be a JSON object`);
}

/** @throws {InvalidConfig} The file cannot be read. */
function assertReadable(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new InvalidConfig(`the file ${path} of ${name} ${describeReadError(error)}`);
  }
}

/** Parses an https URL without credentials, or an http URL of a loopback address. */
export function parseJwksUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  return url.protocol === 'https:' || isLocal ? url : undefined;
}

/** Returns whether only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
