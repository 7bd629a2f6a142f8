import type { Principal, TokenVerifier } from '@plant-store/core';
import { type ApiError, apiErrors } from './api-errors.js';

/** The result of {@link authenticate}. */
export type Authentication =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  /** `reason` is a word for the log. */
  | { readonly kind: 'rejected'; readonly error: ApiError; readonly reason?: string | undefined };

/**
 * Authenticates a client by its header `Authorization`, such as `Bearer correct-horse-battery`.
 * @throws {TokenIssuerUnavailable} The token cannot be checked now.
 */
export async function authenticate(
  authorization: string | null | undefined,
  tokenVerifier: TokenVerifier,
): Promise<Authentication> {
  // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return { kind: 'rejected', error: apiErrors.noCredential };
  const verification = await tokenVerifier.verify(token);
  if (verification.kind === 'valid') return { kind: 'authenticated', principal: verification.principal };
  return { kind: 'rejected', error: apiErrors.invalidToken, reason: verification.reason };
}

/** Returns the id of a request: its header `X-Request-Id` if that is valid, otherwise a new one. */
export function toRequestId(header: string | readonly string[] = ''): string {
  return /^[\w.:-]{1,128}$/.exec(`${header}`)?.[0] ?? crypto.randomUUID();
}
