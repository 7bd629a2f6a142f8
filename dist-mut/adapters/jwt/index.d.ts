export { JwtVerifier, type JwtVerifierOptions } from './jwt-verifier.js';
//# sourceMappingURL=index.d.ts.map