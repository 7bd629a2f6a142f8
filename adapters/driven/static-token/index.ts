export { assertTokens, parseTokens, StaticTokenVerifier } from './static-token-verifier.js';
