import type { Principal, TokenVerifier } from '../../core/index.js';
/** A list of tokens that cannot be used. The message names the place in the list, never the token. */
export declare class InvalidTokenList extends Error {
    readonly name = "InvalidTokenList";
}
/**
 * Knows its tokens by their SHA-256 digests. A check compares the digest of what was sent with every one of them in
 * constant time, so that its duration tells nothing of a token but the length of what was sent.
 */
export declare class StaticTokenVerifier implements TokenVerifier {
    #private;
    /**
     * @param tokens each a token (RFC 6750 §2.1, `b64token`) or `sha256:<hex>`, the digest of one
     * @throws {InvalidTokenList}
     */
    constructor(tokens: readonly string[]);
    /**
     * Takes other tokens in place of those it has; where one of them is invalid it keeps what it has.
     *
     * @throws {InvalidTokenList}
     */
    replace(tokens: readonly string[]): void;
    verify(token: string): Promise<Principal | undefined>;
}
/** @throws {InvalidTokenList} where one of `tokens` cannot be used */
export declare function assertTokens(tokens: readonly string[]): void;
/** The tokens of a file with one token or digest a line; blank lines and `#` comments do not count. */
export declare function tokensOfFile(text: string): string[];
//# sourceMappingURL=static-token-verifier.d.ts.map