export { BrokenPromise, type ContractCase } from './contract.js';
export { type DurablePlantRepositoryHarness, durablePlantRepositoryContract, type PlantRepositoryHarness, type PlantRepositoryOutageHarness, plantRepositoryContract, plantRepositoryOutageContract, } from './plant-repository.js';
export { type TokenVerifierHarness, type TokenVerifierOutageHarness, tokenVerifierContract, tokenVerifierOutageContract, } from './token-verifier.js';
//# sourceMappingURL=index.d.ts.map