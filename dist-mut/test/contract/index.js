export { BrokenPromise } from './contract.js';
export { durablePlantRepositoryContract, plantRepositoryContract, plantRepositoryOutageContract, } from './plant-repository.js';
export { tokenVerifierContract, tokenVerifierOutageContract, } from './token-verifier.js';
//# sourceMappingURL=index.js.map