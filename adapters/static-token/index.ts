export { InvalidTokenList, StaticTokenVerifier, tokensOfFile } from './static-token-verifier.js';
