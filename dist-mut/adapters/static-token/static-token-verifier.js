import { hash, timingSafeEqual } from 'node:crypto';
/** A list of tokens that cannot be used. The message names the place in the list, never the token. */
export class InvalidTokenList extends Error {
    name = 'InvalidTokenList';
}
/**
 * Knows its tokens by their SHA-256 digests. A check compares the digest of what was sent with every one of them in
 * constant time, so that its duration tells nothing of a token but the length of what was sent.
 */
export class StaticTokenVerifier {
    #digests;
    /**
     * @param tokens each a token (RFC 6750 §2.1, `b64token`) or `sha256:<hex>`, the digest of one
     * @throws {InvalidTokenList}
     */
    constructor(tokens) {
        this.#digests = tokens.map(digestOf);
    }
    /**
     * Takes other tokens in place of those it has; where one of them is invalid it keeps what it has.
     *
     * @throws {InvalidTokenList}
     */
    replace(tokens) {
        this.#digests = tokens.map(digestOf);
    }
    async verify(token) {
        const sent = sha256(token);
        let match = -1;
        for (const [index, digest] of this.#digests.entries()) {
            if (timingSafeEqual(sent, digest))
                match = index;
        }
        return match === -1 ? undefined : { subject: `static-token-${match + 1}` };
    }
}
/** @throws {InvalidTokenList} where one of `tokens` cannot be used */
export function assertTokens(tokens) {
    tokens.forEach(digestOf);
}
/** The tokens of a file with one token or digest a line; blank lines and `#` comments do not count. */
export function tokensOfFile(text) {
    return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('#'));
}
function digestOf(token, index) {
    const digest = /^sha256:(.*)$/i.exec(token)?.[1];
    if (digest !== undefined) {
        if (/^[0-9a-f]{64}$/i.test(digest))
            return Buffer.from(digest, 'hex');
        throw new InvalidTokenList(`token ${index + 1} starts with sha256: but is not followed by 64 hexadecimal digits`);
    }
    if (token === '')
        throw new InvalidTokenList(`token ${index + 1} is empty`);
    if (/^[A-Za-z0-9._~+/-]+=*$/.test(token))
        return sha256(token);
    throw new InvalidTokenList(`token ${index + 1} must consist of A-Z a-z 0-9 . _ ~ + / - and may end in =`);
}
function sha256(text) {
    return hash('sha256', text, 'buffer');
}
//# sourceMappingURL=static-token-verifier.js.map