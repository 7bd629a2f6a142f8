/** Port: who may come in. */
export interface TokenVerifier {
    /**
     * The principal that `token` stands for, or `undefined` where the token is not valid. What was asked before makes no
     * difference. What an implementation promises stands as test cases in `test/contract/token-verifier.ts`.
     *
     * @param token the bearer token as it was sent, without its scheme (RFC 6750 §2.1)
     * @throws {TokenIssuerUnavailable} when that cannot be told now
     */
    verify(token: string): Promise<Principal | undefined>;
}
/** Who acts. */
export interface Principal {
    /** A name for logs and rules, never empty, the same for the same token; it reveals nothing of the token. */
    readonly subject: string;
}
//# sourceMappingURL=token-verifier.d.ts.map