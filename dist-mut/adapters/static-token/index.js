export { assertTokens, InvalidTokenList, StaticTokenVerifier, tokensOfFile } from './static-token-verifier.js';
//# sourceMappingURL=index.js.map