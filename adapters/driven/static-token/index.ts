export { assertTokens, isClientName, parseTokens, StaticTokenVerifier } from './static-token-verifier.js';
