export { type StaticToken, StaticTokenVerifier } from './static-token-verifier.js';
