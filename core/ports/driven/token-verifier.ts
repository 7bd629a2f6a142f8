/** Port: authenticates bearer tokens. `test/contract/token-verifier.ts` tests the details. */
export interface TokenVerifier {
  /**
   * Returns the principal of `token`, or `undefined` if the token is invalid. Calls do not affect each other.
   * @param token The bearer token as sent, without its scheme (RFC 6750 §2.1).
   * @throws {TokenIssuerUnavailable} The token cannot be checked now.
   */
  verify(token: string): Promise<Principal | undefined>;
}

/** The authenticated caller. */
export interface Principal {
  /** Names the caller, for example in logs. Never empty; reveals nothing of the token; stable until tokens change. */
  readonly subject: string;
}
