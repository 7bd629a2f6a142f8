export { JwtVerifier } from './jwt-verifier.js';
//# sourceMappingURL=index.js.map