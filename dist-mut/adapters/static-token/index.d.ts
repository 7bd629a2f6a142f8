export { assertTokens, InvalidTokenList, StaticTokenVerifier, tokensOfFile } from './static-token-verifier.js';
//# sourceMappingURL=index.d.ts.map