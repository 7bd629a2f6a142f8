import { type TokenVerifier } from '../../core/index.js';
import { type ContractCase } from './contract.js';
/** What the cases need of an adapter. */
export interface TokenVerifierHarness {
    /** A new verifier that knows `validToken`. */
    create(): Promise<TokenVerifier>;
    /** A token of twelve ASCII characters or more, with letters in it, and without words that a subject may have too. */
    readonly validToken: string;
}
/** What the cases need of an adapter that asks an issuer about its tokens. */
export interface TokenVerifierOutageHarness extends TokenVerifierHarness {
    /** Takes the issuer away, does `work`, and brings it back. Rejects as `work` does. */
    withIssuerAway(work: () => Promise<void>): Promise<void>;
}
/** What every token verifier promises. */
export declare const tokenVerifierContract: readonly ContractCase<TokenVerifierHarness>[];
/** What a token verifier promises besides, where it asks an issuer that can go away. */
export declare const tokenVerifierOutageContract: readonly ContractCase<TokenVerifierOutageHarness>[];
//# sourceMappingURL=token-verifier.d.ts.map