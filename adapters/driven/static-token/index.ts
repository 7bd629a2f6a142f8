export { assertTokens, InvalidTokenList, parseTokens, StaticTokenVerifier } from './static-token-verifier.js';
