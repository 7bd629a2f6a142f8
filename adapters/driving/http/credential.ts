import type { IncomingMessage } from 'node:http';
import type { Principal, TokenVerifier } from '../../../core/index.js';
import { apiErrors } from '../api/index.js';
import { HttpError } from './http-error.js';

/**
 * Authenticates the bearer token of a request.
 * @throws {HttpError} No credential (40101), or an invalid token (40102).
 * @throws {TokenIssuerUnavailable} The token cannot be checked now.
 */
export async function authenticate(req: IncomingMessage, tokenVerifier: TokenVerifier): Promise<Principal> {
  const [credential = '', ...more] = req.headersDistinct['authorization'] ?? [];
  // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(credential) ?? [];
  // With two headers it is unclear which one counts.
  if (token === undefined || more.length > 0) throw new HttpError(apiErrors.noCredential);
  const principal = await tokenVerifier.verify(token);
  // Treats any other result as an invalid token: a verifier written in JavaScript is not type-checked.
  if (!principal?.subject) throw new HttpError(apiErrors.invalidToken);
  return principal;
}
