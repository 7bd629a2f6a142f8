import { type Principal, type TokenVerifier } from '../../core/index.js';
/** Whose JWTs are let in. */
export interface JwtVerifierOptions {
    /** The `iss` that a token must have. */
    readonly issuer: string;
    /** The `aud` that a token must have, among others perhaps. */
    readonly audience: string;
    /** Where the issuer's keys are (RFC 7517 §5). */
    readonly jwksUrl: URL;
    /** How long the issuer is waited for, in milliseconds. */
    readonly timeoutMs?: number;
    /** After a look at the keys, how long until the next one for a key that was not there, in milliseconds. */
    readonly cooldownMs?: number;
}
/** Lets in who has a JWT (RFC 7519) of one issuer, for one audience, signed with a key that the issuer publishes. */
export declare class JwtVerifier implements TokenVerifier {
    #private;
    constructor(options: JwtVerifierOptions);
    verify(token: string): Promise<Principal | undefined>;
}
//# sourceMappingURL=jwt-verifier.d.ts.map