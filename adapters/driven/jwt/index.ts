export { JwtVerifier, type JwtVerifierOptions } from './jwt-verifier.js';
