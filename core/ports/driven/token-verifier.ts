/** Port: authenticates bearer tokens. `test/contract/token-verifier.ts` tests the details. */
export interface TokenVerifier {
  /**
   * Checks `token`. Calls do not affect each other.
   * @param token The bearer token as sent, without its scheme (RFC 6750 §2.1).
   * @throws {TokenIssuerUnavailable} The token cannot be checked now.
   */
  verify(token: string): Promise<Verification>;
}

/** The result of {@link TokenVerifier.verify}. */
export type Verification =
  | { readonly kind: 'valid'; readonly principal: Principal }
  /** `reason` is a word for the log, such as `expired`; it reveals nothing of the token. */
  | { readonly kind: 'invalid'; readonly reason?: string | undefined };

/** The authenticated caller. */
export interface Principal {
  /** Names the caller, for example in logs. Never empty; contains no part of the token; always the same for a caller. */
  readonly subject: string;
  /** Who vouches for the subject, such as the `iss` of a JWT; absent if the settings do. Subjects are unique per issuer. */
  readonly issuer?: string | undefined;
}
