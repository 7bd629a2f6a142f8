export { BrokenPromise, type ContractCase } from './contract.js';
export {
  type DurablePlantRepositoryHarness,
  durablePlantRepositoryContract,
  type PlantRepositoryHarness,
  plantRepositoryContract,
} from './plant-repository.js';
export { type TokenVerifierHarness, tokenVerifierContract } from './token-verifier.js';
