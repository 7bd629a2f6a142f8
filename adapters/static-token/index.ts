export { assertTokens, InvalidTokenList, StaticTokenVerifier, tokensOfFile } from './static-token-verifier.js';
